// Finds and runs experiments, and stores them in the database (experiment.h).
#include "harness/papers/experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <memory>

#include "harness/papers/repetitions.h"
#include "plugin/base/nearest.h"

namespace headcrash::experiment {
namespace {

constexpr double kMsPerS = 1000;
constexpr std::int64_t kBytesPerSector = 512;

std::string now_text() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", utc.tm_year + 1900, utc.tm_mon + 1,
                     utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec);
}

db::PhaseRecord record_of(const PhaseOutcome& phase, const std::string& operation) {
  db::PhaseRecord record{.name = "workload", .clock = "virtual"};
  record.model_ms = std::max(phase.quiescent_s, phase.longest_s) * kMsPerS;
  record.reads = static_cast<std::int64_t>(phase.issued_reads);
  record.writes = static_cast<std::int64_t>(phase.issued_writes);
  record.bytes_written = 0;
  record.busy_ms = phase.disk_busy_s * kMsPerS;
  db::MeasureRecord measure{.label = phase.name,
                            .measured = phase.measured,
                            .elapsed_ms = phase.elapsed_s * kMsPerS,
                            .user_ms = phase.user_cpu_s * kMsPerS,
                            .system_ms = (phase.syncer_cpu_s + phase.interrupt_cpu_s) * kMsPerS,
                            .device_busy_ms = phase.disk_busy_s * kMsPerS,
                            .operation = operation,
                            .operations = static_cast<std::int64_t>(phase.operations),
                            .app_bytes_read = static_cast<std::int64_t>(phase.bytes_read),
                            .app_bytes_written = static_cast<std::int64_t>(phase.bytes_written)};
  if (phase.quiescent_s > 0) measure.quiescent_ms = phase.quiescent_s * kMsPerS;
  record.measure = measure;
  record.metrics = {
      {"elapsed.slowest", "ms", phase.longest_s * kMsPerS},
      {"users.disk_wait", "ms", phase.user_wait_s * kMsPerS},
      {"syncer.cpu", "ms", phase.syncer_cpu_s * kMsPerS},
      {"interrupts.cpu", "ms", phase.interrupt_cpu_s * kMsPerS},
      {"disk.requests", "", static_cast<double>(phase.requests)},
      {"disk.requests_while_elapsed", "", static_cast<double>(phase.requests_while_elapsed)},
      {"disk.bytes", "bytes", static_cast<double>(phase.sectors) * kBytesPerSector},
      {"disk.queued_most", "", static_cast<double>(phase.queued_most)},
      {"disk.response", "ms", phase.response_ms},
      {"disk.access", "ms", phase.access_ms},
      {"cache.lock_waits", "", static_cast<double>(phase.lock_waits)}};
  return record;
}

db::TrialRecord record_of(const Cell& cell, const std::string& at) {
  db::TrialRecord trial{.key = cell.key,
                        .filesystem = cell.setup.name,
                        .device = cell.setup.machine.profile,
                        .workload = cell.run.workload,
                        .seed = static_cast<std::int64_t>(cell.run.seed),
                        .clock = "virtual",
                        .started_at = at,
                        .wall_ms = cell.host_s * kMsPerS};
  trial.expected = "any";
  trial.scale = cell.run.scaled ? "scaled" : "exact";
  if (cell.outcome) {
    trial.verdict = db::kMeasured;
    trial.parameters = cell.outcome->parameters;
    for (const PhaseOutcome& phase : cell.outcome->phases)
      trial.phases.push_back(record_of(phase, cell.outcome->operation));
  } else {
    trial.verdict = cell.missing() ? "not built" : "failed";
    trial.summary = cell.remark;
  }
  return trial;
}

std::vector<std::string> names_of(const std::vector<ExperimentSummary>& all) {
  std::vector<std::string> names;
  names.reserve(all.size());
  for (const ExperimentSummary& each : all) names.push_back(each.name);
  return names;
}

tl::unexpected<Error> unknown(const std::string& name, const std::vector<std::string>& known) {
  const std::string near = base::nearest(name, known);
  return fail(
      name, "unknown experiment",
      near.empty() ? "see headcrash list experiments" : fmt::format("did you mean {}?", near));
}

Result<void> check_parameters(const ExperimentOptions& options,
                              const std::vector<const Part*>& parts) {
  std::vector<std::string> known;
  for (const Part* part : parts) {
    for (const Parameter& parameter : part->parameters) known.push_back(parameter.name);
  }
  for (const auto& [name, value] : options.parameters) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    if (known.empty()) return fail(name, fmt::format("{} has no parameters", options.name));
    const std::string near = base::nearest(name, known);
    return fail(name, fmt::format("{} has no such parameter", options.name),
                near.empty() ? fmt::format("its parameters are {}", fmt::join(known, ", "))
                             : fmt::format("did you mean {}?", near));
  }
  return {};
}

/// The runs of an experiment for one seed.
struct Execution {
  Cells cells;
  Context context;

  Execution(const ExperimentOptions& options, const std::vector<std::string>& parts,
            std::uint32_t number)
      : cells(cell_options(options, number)),
        context{.cells = cells,
                .seed = options.seed + number,
                .scaled = options.scaled,
                .parts = parts,
                .interrupt_requested = options.interrupted,
                .rules_only = number > 0} {}

  static CellOptions cell_options(const ExperimentOptions& options, std::uint32_t number) {
    CellOptions cells{.seed = options.seed + number,
                      .scaled = options.scaled,
                      .interrupted = options.interrupted};
    if (number == 0) {
      cells.on_cell = options.on_cell;
      return cells;
    }
    cells.verify = false;
    cells.once = true;
    cells.begins_after_ns = (kExecutionsOfACellMost + number) * kBetweenBeginnings;
    return cells;
  }
  static constexpr std::uint32_t kExecutionsOfACellMost = 10;
};

std::vector<ClaimAnswer> answer(const Part& part, Context& context,
                                const ExperimentOptions& options) {
  context.parameters.clear();
  for (const Parameter& parameter : part.parameters) {
    const auto set = options.parameters.find(parameter.name);
    context.parameters[parameter.name] =
        set == options.parameters.end() ? parameter.usual : set->second;
  }
  context.cells.executions(part.executions);
  return part.answer(context);
}

/// Returns the paper's main claim, and its main figures next to ours.
ClaimAnswer in_short(const Paper& paper, const std::vector<ClaimAnswer>& answers) {
  Table table{.name = "figures",
              .title = paper.main_claim,
              .columns = {"figure", "unit", "paper", "here"},
              .rows = {}};
  const auto text = [](const Figure& value) {
    return value ? fmt::format("{:.4g}", *value) : std::string("-");
  };
  for (const MainFigure& figure : paper.main_figures)
    for (const ClaimAnswer& answer : answers)
      for (const ClaimNumber& n : answer.numbers)
        if (answer.id == figure.claim && n.cell == figure.cell && n.quantity == figure.quantity)
          table.rows.push_back({figure.name, n.unit, text(n.paper), text(n.ours)});
  return {.id = kInShort, .part = "", .title = paper.title, .tables = {std::move(table)}};
}

/// All executions of an experiment, one for each seed. The first execution runs all parts. The
/// others run only the parts whose rules are compared over several seeds.
class Executions {
 public:
  Executions(const ExperimentOptions& options, const std::vector<const Part*>& parts)
      : options_(options) {
    std::uint32_t seeds = 1;
    if (!options.scaled)
      for (const Part* part : parts) seeds = std::max(seeds, part->seeds);
    for (std::uint32_t number = 0; number < seeds; ++number) {
      std::vector<std::string> names;
      for (const Part* part : parts)
        if (number == 0 || number < part->seeds) names.push_back(part->name);
      all_.push_back(std::make_unique<Execution>(options, names, number));
    }
  }

  const Execution& first() const { return *all_.front(); }
  bool interrupted() const { return first().cells.interrupted(); }

  /// Runs the part with all its seeds.
  std::vector<ClaimAnswer> answer(const Part& part) {
    auto answers = experiment::answer(part, all_.front()->context, options_);
    std::vector<std::vector<ClaimAnswer>> others;
    for (std::size_t i = 1; i < std::min<std::size_t>(part.seeds, all_.size()); ++i) {
      if (interrupted()) break;
      others.push_back(experiment::answer(part, all_[i]->context, options_));
    }
    compare_executions(answers, others);
    if (part.seeds == 0)
      for (ClaimAnswer& each : answers)
        for (ClaimRule& rule : each.rules) rule.executions = 0;
    return answers;
  }

  /// Returns the model time of all executions, except that of the first execution's cells, which
  /// the caller adds.
  double modelled_s() const {
    double sum = 0;
    for (const auto& each : all_) {
      sum += each->context.modelled_s;
      if (each == all_.front()) continue;
      for (const auto& cell : each->cells.all())
        if (cell->outcome) sum += cell->outcome->modelled_s;
    }
    return sum;
  }

 private:
  const ExperimentOptions& options_;
  std::vector<std::unique_ptr<Execution>> all_;
};

}  // namespace

std::vector<const Part*> parts_of(const std::string& name) {
  std::vector<const Part*> parts;
  for (const Paper& paper : papers()) {
    for (const Part& part : paper.parts) {
      if ((name == paper.name && !part.only_by_name) ||
          name == fmt::format("{}/{}", paper.name, part.name))
        parts.push_back(&part);
    }
  }
  return parts;
}

std::vector<ExperimentSummary> known_experiments() {
  std::vector<ExperimentSummary> all;
  for (const Paper& paper : papers()) {
    all.push_back({paper.name, paper.title});
    for (const Part& part : paper.parts)
      all.push_back({fmt::format("{}/{}", paper.name, part.name), part.title, part.parameters});
  }
  return all;
}

std::size_t ExperimentOutcome::count(Verdict verdict, std::optional<RuleClass> kind) const {
  std::size_t rules = 0;
  for (const ClaimAnswer& answer : answers) {
    rules += static_cast<std::size_t>(std::count_if(
        answer.rules.begin(), answer.rules.end(),
        [&](const ClaimRule& r) { return r.verdict == verdict && (!kind || r.kind == *kind); }));
  }
  return rules;
}

std::size_t ExperimentOutcome::failed() const {
  return static_cast<std::size_t>(std::count_if(cells.begin(), cells.end(), [](const Cell& cell) {
    return !cell.outcome && !cell.missing();
  }));
}

Result<ExperimentOutcome> run_experiment(const ExperimentOptions& options) {
  const auto parts = parts_of(options.name);
  if (parts.empty()) return unknown(options.name, names_of(known_experiments()));
  TRY(check_parameters(options, parts));
  const double begun_at_s = cpu_seconds_here();
  const auto begun_at = std::chrono::steady_clock::now();
  Executions executions(options, parts);
  ExperimentOutcome outcome{.name = options.name, .seed = options.seed};
  for (const Part* part : parts) {
    if (executions.interrupted()) break;
    for (ClaimAnswer& each : executions.answer(*part)) outcome.answers.push_back(std::move(each));
  }
  for (const Paper& paper : papers())
    if (options.name == paper.name && !paper.main_figures.empty())
      outcome.answers.insert(outcome.answers.begin(), in_short(paper, outcome.answers));
  const Cells& cells = executions.first().cells;
  outcome.interrupted = cells.interrupted();
  outcome.host_s = cpu_seconds_here() - begun_at_s;
  outcome.wall_s =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_at).count();
  outcome.modelled_s = executions.modelled_s();
  for (const auto& cell : cells.all()) {
    if (cell->outcome) outcome.modelled_s += cell->outcome->modelled_s;
    outcome.cells.push_back(*cell);
  }
  return outcome;
}

Result<std::int64_t> keep(db::Database& database, const ExperimentOutcome& outcome) {
  const std::string at = now_text();
  const auto run =
      database.begin_run({.kind = "experiment",
                          .name = outcome.name,
                          .configuration = outcome.name,
                          .digest = fmt::format("experiment-{}-{}", outcome.name, outcome.seed),
                          .seed = static_cast<std::int64_t>(outcome.seed),
                          .trials_planned = static_cast<std::int64_t>(outcome.cells.size()),
                          .host_json = "{}",
                          .versions_json = "{}",
                          .accelerator = ""});
  if (!run) return run;
  for (const Cell& cell : outcome.cells) {
    TRY(database.record_trial(*run, record_of(cell, at)));
  }
  TRY(database.record_claims(*run, outcome.answers));
  TRY(database.finish_run(*run));
  return run;
}

}  // namespace headcrash::experiment
