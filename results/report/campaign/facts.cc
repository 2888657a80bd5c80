#include "results/report/campaign/facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <unordered_map>

#include "results/db/statement.h"
#include "results/report/frame/query.h"

namespace headcrash::report {
namespace {

Run run_of(const Row& row) {
  Run run;
  run.id = row.integer("id");
  run.kind = row.text("kind");
  run.name = row.text("name");
  run.configuration = row.text("configuration");
  run.digest = row.text("digest");
  run.seed = row.integer("seed");
  run.planned = row.integer("trials_planned");
  run.recorded = row.integer("recorded");
  run.late = row.integer("late");
  run.started_at = row.text("started_at");
  if (const auto end = row.text("finished_at"); !end.empty()) run.finished_at = end;
  run.seconds = row.integer("seconds");
  run.host = row.text("host");
  run.versions = row.text("versions");
  run.accelerator = row.text("accelerator");
  return run;
}

Cell cell_of(const Row& row) {
  Cell cell;
  cell.filesystem = row.text("filesystem");
  cell.device = row.text("device");
  cell.workload = row.text("workload");
  cell.expected = row.text("expected");
  cell.variant = row.text("variant");
  cell.must = row.text("must");
  cell.repaired = row.integer("repaired");
  cell.known = row.integer("known");
  cell.trials = row.integer("trials");
  cell.clean = row.integer("clean");
  cell.replayed = row.integer("replayed");
  cell.lost = row.integer("lost");
  cell.other = row.integer("other");
  cell.lost_synced = row.integer("lost_synced");
  cell.harness_errors = row.integer("harness_errors");
  cell.uncut = row.integer("uncut");
  cell.late = row.integer("late");
  cell.losses_needed = row.integer("losses_needed");
  if (const auto met = row.maybe_integer("met")) cell.met = *met != 0;
  cell.unexpected = row.integer("unexpected");
  return cell;
}

std::optional<double> ms_of_ns(const std::optional<std::int64_t>& ns) {
  return ns ? std::optional(static_cast<double>(*ns) / 1e6) : std::nullopt;
}

Trial trial_of(const Row& row) {
  Trial trial;
  trial.id = row.integer("id");
  trial.key = row.text("key");
  trial.filesystem = row.text("filesystem");
  trial.device = row.text("device");
  trial.workload = row.text("workload");
  trial.expected = row.text("expected");
  trial.variant = row.text("variant");
  trial.must = row.text("must");
  trial.seed = row.integer("seed");
  trial.clock = row.text("clock");
  trial.cut = row.text("cut");
  trial.cut_at_ms = ms_of_ns(row.maybe_integer("cut_at_ns"));
  trial.after_persistence_ms = ms_of_ns(row.maybe_integer("after_persistence_ns"));
  trial.persisted_operation = row.maybe_integer("persisted_operation");
  trial.operations = row.integer("operations");
  trial.verdict = row.text("verdict");
  trial.outcome = row.text("outcome");
  trial.summary = row.text("summary");
  trial.late = row.integer("late") != 0;
  return trial;
}

Recovery recovery_of(const Row& row) {
  Recovery r;
  r.filesystem = row.text("filesystem");
  r.device = row.text("device");
  r.workload = row.text("workload");
  r.phase = row.text("phase");
  r.trials = row.integer("trials");
  r.unclocked = row.integer("unclocked");
  r.model_ms = {row.real("model_median"), row.real("model_min"), row.real("model_max")};
  r.wall_ms = {row.real("wall_median"), row.real("wall_min"), row.real("wall_max")};
  r.bytes_read = row.real("bytes_read");
  r.bytes_written = row.real("bytes_written");
  return r;
}

Lateness lateness_of(const Row& row) {
  Lateness l;
  l.filesystem = row.text("filesystem");
  l.device = row.text("device");
  l.workload = row.text("workload");
  l.phase = row.text("phase");
  l.clock = row.text("clock");
  l.phases = row.integer("phases");
  l.late_trials = row.integer("late_trials");
  l.target_mean_us = row.real("target_mean");
  l.achieved_mean_us = row.real("achieved_mean");
  l.p50_us = row.real("p50");
  l.p99_us = row.real("p99");
  l.max_us = row.real("worst");
  l.share = row.real("share");
  return l;
}

ExploredCell explored_of(const Row& row) {
  ExploredCell cell;
  cell.filesystem = row.text("filesystem");
  cell.variant = row.text("variant");
  cell.workload = row.text("workload");
  cell.control = row.text("control");
  cell.trials = row.integer("trials");
  cell.states = row.integer("states");
  cell.clean = row.integer("clean");
  cell.replayed = row.integer("replayed");
  cell.repaired = row.integer("repaired");
  cell.lost = row.integer("lost");
  cell.other = row.integer("other");
  cell.harness_errors = row.integer("harness_errors");
  cell.in_guest = row.integer("in_guest");
  cell.confirmed = row.integer("confirmed");
  cell.unconfirmed = row.integer("unconfirmed");
  return cell;
}

StrategyCoverage coverage_of(const Row& row) {
  StrategyCoverage c;
  c.filesystem = row.text("filesystem");
  c.variant = row.text("variant");
  c.workload = row.text("workload");
  c.control = row.text("control");
  c.strategy = row.text("strategy");
  c.trials = row.integer("trials");
  c.whole = row.integer("whole");
  c.generated = row.integer("generated");
  c.distinct_states = row.integer("distinct_states");
  c.checked = row.integer("checked");
  c.space = row.real("space");
  c.mean_share = row.real("mean_share");
  c.bound = row.text("bound");
  return c;
}

Failure failure_of(const Row& row) {
  Failure f;
  f.trial = row.integer("trial_id");
  f.key = row.text("key");
  f.filesystem = row.text("filesystem");
  f.variant = row.text("variant");
  f.workload = row.text("workload");
  f.control = row.text("control");
  f.state = row.text("state");
  f.strategy = row.text("strategy");
  f.verdict = row.text("verdict");
  f.summary = row.text("summary");
  f.confirmed = row.integer("confirmed") != 0;
  f.disagreement = row.text("disagreement");
  f.tier = row.text("tier");
  f.operations = row.text("operations");
  f.minimised_state = row.text("minimised_state");
  f.account = row.text("account");
  f.replay = row.text("replay");
  f.findings = row.integer("findings");
  return f;
}

void add_to_curves(std::vector<LatencyCurve>& curves, const Row& row) {
  const auto device = row.text("device"), filesystem = row.text("filesystem"),
             kind = row.text("kind");
  if (curves.empty() || curves.back().device != device || curves.back().filesystem != filesystem ||
      curves.back().kind != kind) {
    curves.push_back({device, filesystem, kind, 0, {}});
  }
  curves.back().requests += row.integer("requests");
  curves.back().points.emplace_back(row.real("upper_us"), row.real("share"));
}

void add_to_panels(std::vector<IoPanel>& panels, const Row& row) {
  const auto filesystem = row.text("filesystem");
  if (panels.empty() || panels.back().filesystem != filesystem) {
    panels.push_back(
        {filesystem, row.text("key"), row.maybe_real("cut_ms"), row.integer("requests"), {}});
  }
  panels.back().points.push_back({row.real("at_ms"), row.integer("lba"), row.text("op"),
                                  row.integer("sectors"), row.maybe_real("response_us")});
}

/// Runs queries one after the other. Stops at the first failure.
class Reader {
 public:
  Reader(db::Database& database, std::int64_t run) : database_(database), run_(run) {}

  void each(const std::string& query, const std::function<void(const Row&)>& take) {
    if (error_) return;
    const auto table = run_query(database_, query, run_);
    if (!table) {
      error_ = table.error();
      return;
    }
    for (std::size_t i = 0; i < table->size(); ++i) take(table->row(i));
  }
  const std::optional<Error>& error() const { return error_; }

 private:
  db::Database& database_;
  std::int64_t run_;
  std::optional<Error> error_;
};

void attach_details(Reader& reader, std::vector<Trial>& trials) {
  std::unordered_map<std::int64_t, Trial*> by_id;
  for (auto& trial : trials) by_id[trial.id] = &trial;
  const auto each = [&](const std::string& query, const auto& attach) {
    reader.each(query, [&](const Row& row) {
      const auto trial = by_id.find(row.integer("trial_id"));
      if (trial != by_id.end()) attach(*trial->second, row);
    });
  };
  each("findings", [](Trial& trial, const Row& row) {
    trial.findings.push_back({row.text("kind"), row.text("tier"), row.text("path"),
                              row.text("expected"), row.text("found")});
  });
  each("incidents", [](Trial& trial, const Row& row) {
    trial.incidents.push_back(
        {*ms_of_ns(row.integer("at_ns")), row.text("device"), row.text("text")});
  });
  each("artefacts", [](Trial& trial, const Row& row) {
    trial.artefacts.push_back({row.text("kind"), row.text("path"), row.integer("bytes")});
  });
}

void gather_exploration(Reader& reader, Facts& facts) {
  reader.each("explored", [&](const Row& row) { facts.explored.push_back(explored_of(row)); });
  reader.each("stacks", [&](const Row& row) {
    facts.stacks.push_back({row.text("stack"), row.text("fs"), row.text("kernel"),
                            row.text("workload"), row.text("variant"), row.text("verdict"),
                            row.integer("states"), row.integer("failed"), row.real("seconds")});
  });
  reader.each("coverage", [&](const Row& row) { facts.coverage.push_back(coverage_of(row)); });
  reader.each("failures", [&](const Row& row) {
    facts.failures.push_back(failure_of(row));
    facts.failures_in_all = row.integer("total");
  });
  reader.each("cuts", [&](const Row& row) {
    facts.cuts.push_back({row.text("filesystem"), row.text("variant"), row.text("control"),
                          row.integer("cut"), row.integer("kept"), row.integer("lost"),
                          row.integer("other")});
  });
  reader.each("steps", [&](const Row& row) {
    facts.steps.push_back({row.text("filesystem"), row.text("step"), row.integer("count"),
                           row.real("total_ms"), row.real("share")});
  });
}

Result<std::int64_t> which_run(db::Database& database, std::optional<std::int64_t> wanted) {
  if (wanted) return *wanted;
  TRY(const auto newest, run_query(database, "newest_run", 0));
  const auto id = newest.row(0).maybe_integer("id");
  if (!id)
    return fail(database.path().string(), "contains no run",
                "run a campaign first: headcrash campaign FILE.toml");
  return *id;
}

/// Reads the run itself, and the data that runs of all kinds have in common.
Result<Facts> outline(Reader& reader, db::Database& database, std::int64_t run) {
  Facts facts;
  facts.database = database.path().string();
  reader.each("run", [&](const Row& row) { facts.run = run_of(row); });
  if (!reader.error() && facts.run.id == 0) {
    return fail(database.path().string(), fmt::format("has no run {}", run),
                "omit --run to use the newest run");
  }
  reader.each("filesystems",
              [&](const Row& row) { facts.filesystems.push_back(row.text("filesystem")); });
  reader.each("lateness", [&](const Row& row) { facts.lateness.push_back(lateness_of(row)); });
  reader.each("clocks", [&](const Row& row) {
    facts.unclocked.push_back({row.text("phase"), row.text("clock"), row.integer("phases")});
  });
  if (reader.error()) return tl::unexpected(*reader.error());
  return facts;
}

Result<Facts> gather_in_snapshot(db::Database& database, std::int64_t run) {
  Reader reader(database, run);
  auto gathered = outline(reader, database, run);
  if (!gathered) return gathered;
  Facts facts = std::move(*gathered);
  reader.each("cells", [&](const Row& row) { facts.cells.push_back(cell_of(row)); });
  reader.each("trials", [&](const Row& row) { facts.trials.push_back(trial_of(row)); });
  attach_details(reader, facts.trials);
  reader.each("recovery", [&](const Row& row) { facts.recovery.push_back(recovery_of(row)); });
  reader.each("latency", [&](const Row& row) { add_to_curves(facts.latency, row); });
  reader.each("responses", [&](const Row& row) {
    facts.responses.push_back({row.text("device"), row.text("filesystem"), row.text("op"),
                               row.integer("requests"), row.real("p50"), row.real("p90"),
                               row.real("p99"), row.real("most"), row.real("mean")});
  });
  reader.each("io", [&](const Row& row) { add_to_panels(facts.io, row); });
  gather_exploration(reader, facts);
  if (reader.error()) return tl::unexpected(*reader.error());
  return facts;
}

}  // namespace

std::int64_t Facts::unexpected() const {
  std::int64_t sum = 0;
  for (const auto& cell : cells) sum += cell.unexpected;
  return sum;
}

Result<Facts> gather_outline(db::Database& database, std::int64_t run) {
  Reader reader(database, run);
  return outline(reader, database, run);
}

Result<Facts> gather(db::Database& database, std::optional<std::int64_t> run) {
  TRY(db::execute(database.handle(), "BEGIN"));
  auto facts = [&]() -> Result<Facts> {
    TRY(const auto id, which_run(database, run));
    return gather_in_snapshot(database, id);
  }();
  if (auto ended = db::execute(database.handle(), "COMMIT"); !ended && facts)
    return forward_error(ended);
  return facts;
}

bool is_of(const Trial& t, const Cell& c) {
  return t.filesystem == c.filesystem && t.device == c.device && t.workload == c.workload &&
         t.expected == c.expected && t.variant == c.variant && t.must == c.must;
}

}  // namespace headcrash::report
