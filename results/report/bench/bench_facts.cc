// Reads rows and builds contests from them (bench_facts.h).
#include "results/report/bench/bench_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "results/db/statement.h"
#include "results/report/bench/ranking.h"
#include "results/report/frame/figures.h"
#include "results/report/frame/query.h"

namespace headcrash::report {
namespace {

using Unit = Measure::Unit;

constexpr std::array kMeasures = {
    Measure{"elapsed_ms", "elapsed", Unit::milliseconds},
    Measure{"quiescent_ms", "to quiescence", Unit::milliseconds},
    Measure{"operations", "operations", Unit::count},
    Measure{"rate", "operations per second", Unit::rate},
    Measure{"user_ms", "user CPU in the guest", Unit::milliseconds},
    Measure{"system_ms", "system CPU in the guest", Unit::milliseconds},
    Measure{"processor_share", "of one processor until quiescence", Unit::share},
    Measure{"busy_ms", "device busy until quiescence", Unit::milliseconds},
    Measure{"busy_share", "of the time to quiescence", Unit::share},
    Measure{"device_busy_ms", "device busy until the last call returned", Unit::milliseconds},
    Measure{"elapsed_busy_share", "of the elapsed time", Unit::share},
    Measure{"response_us", "response time of a request, mean", Unit::microseconds},
    Measure{"response_p99_us", "response time, p99", Unit::microseconds},
    Measure{"busy_per_request_us", "service: busy time by request", Unit::microseconds},
    Measure{"queue_length", "requests in the device, mean", Unit::ratio},
    Measure{"achieved_us", "response time as the client saw it, mean", Unit::microseconds},
    Measure{"reads", "reads", Unit::count},
    Measure{"writes", "writes", Unit::count},
    Measure{"flushes", "flushes", Unit::count},
    Measure{"merges", "merged by the guest", Unit::count},
    Measure{"bytes_read", "read", Unit::bytes},
    Measure{"bytes_written", "written", Unit::bytes},
    Measure{"app_bytes_read", "read by the application", Unit::bytes},
    Measure{"app_bytes_written", "written by the application", Unit::bytes},
    Measure{"write_amplification", "write amplification", Unit::ratio},
    Measure{"leaf_bytes_written", "written to the media", Unit::bytes},
    Measure{"media_amplification", "write amplification at the media", Unit::ratio},
    Measure{"media_writes", "media writes", Unit::count},
    Measure{"seeks", "seeks", Unit::count},
    Measure{"cache_hits", "cache hits", Unit::count},
    Measure{"nvram_hits", "NVRAM hits", Unit::count},
    Measure{"read_modify_writes", "RAID read-modify-writes", Unit::count},
    Measure{"guest_reads", "reads, says the guest", Unit::count},
    Measure{"reads_deviation", "its deviation", Unit::share},
    Measure{"guest_writes", "writes, says the guest", Unit::count},
    Measure{"writes_deviation", "its deviation", Unit::share},
    Measure{"guest_bytes_read", "read, says the guest", Unit::bytes},
    Measure{"bytes_read_deviation", "its deviation", Unit::share},
    Measure{"guest_bytes_written", "written, says the guest", Unit::bytes},
    Measure{"bytes_written_deviation", "its deviation", Unit::share},
    Measure{"guest_flushes", "flushes, says the guest", Unit::count},
    Measure{"guest_busy_ms", "busy, says the guest", Unit::milliseconds},
};

std::string identity_of(const std::string& device, const std::string& workload,
                        const std::string& parameters, const std::string& scale,
                        const std::string& phase, const std::string& clock) {
  return fmt::format("{}\n{}\n{}\n{}\n{}\n{}", device, workload, parameters, scale, phase, clock);
}

std::string row_identity(const Row& row) {
  return identity_of(row.text("device"), row.text("workload"), row.text("parameters"),
                     row.text("scale"), row.text("phase"), row.text("clock_kind"));
}

Measurement measurement_of(const Row& row) {
  Measurement m;
  m.trial = row.integer("trial_id");
  m.repetition = row.integer("repetition");
  m.key = row.text("key");
  m.elapsed_ms = row.real("elapsed_ms");
  m.quiescent_ms = row.maybe_real("quiescent_ms");
  m.rate = row.maybe_real("rate");
  m.fixed_time = row.maybe_real("fixed_time_s").has_value();
  m.processor_share = row.maybe_real("processor_share");
  m.busy_share = row.maybe_real("busy_share");
  m.elapsed_busy_share = row.maybe_real("elapsed_busy_share");
  m.host_busy = row.maybe_real("host_busy");
  m.late = row.integer("late") != 0;
  for (const Measure& measure : kMeasures)
    m.values.push_back(row.maybe_real(std::string(measure.column)));
  return m;
}

BenchTrial trial_of_bench(const Row& row) {
  BenchTrial t;
  t.id = row.integer("id");
  t.repetition = row.integer("repetition");
  t.seed = row.integer("seed");
  t.key = row.text("key");
  t.device = row.text("device");
  t.workload = row.text("workload");
  t.parameters = row.text("parameters");
  t.scale = row.text("scale");
  t.filesystem = row.text("filesystem");
  t.variant = row.text("variant");
  t.clock = row.text("clock");
  t.verdict = row.text("verdict");
  t.summary = row.text("summary");
  t.started_at = row.text("started_at");
  t.profile = row.text("profile");
  t.device_bytes = row.integer("device_bytes");
  t.late = row.integer("late") != 0;
  t.host_busy = row.maybe_real("host_busy");
  return t;
}

class BenchmarkReader {
 public:
  BenchmarkReader(db::Database& database, Benchmark& bench) : database_(database), bench_(bench) {}

  Result<void> run() {
    for (const auto part :
         {&BenchmarkReader::trials, &BenchmarkReader::measurements, &BenchmarkReader::metrics,
          &BenchmarkReader::latency, &BenchmarkReader::load, &BenchmarkReader::io}) {
      TRY((this->*part)());
    }
    count_failures();
    count_marks();
    for (Contest& contest : bench_.contests) {
      const auto of_it = std::ranges::find(bench_.trials, contest.device, &BenchTrial::device);
      if (of_it == bench_.trials.end()) continue;
      contest.profile = of_it->profile;
      contest.device_bytes = of_it->device_bytes;
    }
    for (Contest& contest : bench_.contests) rank(contest);
    return {};
  }

 private:
  template <typename Take>
  Result<void> each(const std::string& query, Take take) {
    TRY(const auto table, run_query(database_, query, bench_.facts.run.id));
    for (std::size_t i = 0; i < table.size(); ++i) take(table.row(i));
    return {};
  }

  Result<void> trials() {
    return each("bench_trials",
                [&](const Row& row) { bench_.trials.push_back(trial_of_bench(row)); });
  }

  Result<void> measurements() {
    return each("bench_measures", [&](const Row& row) {
      if (row.integer("measured") == 0) return;
      Contest& contest = contest_of(row);
      entrant_of(contest, row.text("filesystem"), row.text("variant"))
          .measurements.push_back(measurement_of(row));
    });
  }

  Contest& contest_of(const Row& row) {
    const auto [place, added] = places_.emplace(row_identity(row), bench_.contests.size());
    if (!added) return bench_.contests[place->second];
    Contest& contest = bench_.contests.emplace_back();
    contest.device = row.text("device");
    contest.workload = row.text("workload");
    contest.parameters = row.text("parameters");
    contest.scale = row.text("scale");
    contest.phase = row.text("phase");
    contest.operation = row.text("operation");
    contest.clock = row.text("clock_kind");
    return contest;
  }

  static Entrant& entrant_of(Contest& contest, const std::string& filesystem,
                             const std::string& variant) {
    const auto found = std::ranges::find_if(contest.entrants, [&](const Entrant& each) {
      return each.filesystem == filesystem && each.variant == variant;
    });
    if (found != contest.entrants.end()) return *found;
    Entrant& entrant = contest.entrants.emplace_back();
    entrant.filesystem = filesystem;
    entrant.variant = variant;
    return entrant;
  }

  /// Counts a failed trial in every phase of its workload, because the trial itself has no phases.
  /// The phases are known from the successful trials.
  void count_failures() {
    std::map<std::string, std::vector<std::size_t>> by_workload;
    const auto key = [](const auto& of, const std::string& clock) {
      return identity_of(of.device, of.workload, of.parameters, of.scale, {}, clock);
    };
    for (const BenchTrial& trial : bench_.trials) {
      if (!trial.failed()) continue;
      const std::string of_trial = key(trial, trial.clock_kind());
      const auto known = [&](const Contest& contest) {
        return key(contest, contest.clock) == of_trial;
      };
      auto& contests = by_workload[of_trial];
      if (contests.empty()) {
        if (std::ranges::none_of(bench_.contests, known))
          bench_.contests.push_back(contest_without_phase(trial));
        for (std::size_t i = 0; i < bench_.contests.size(); ++i)
          if (known(bench_.contests[i])) contests.push_back(i);
      }
      for (const std::size_t contest : contests)
        ++entrant_of(bench_.contests[contest], trial.filesystem, trial.variant).failed;
    }
  }

  void count_marks() {
    for (Contest& contest : bench_.contests) {
      for (Entrant& entrant : contest.entrants) {
        for (const Measurement& m : entrant.measurements) {
          if (m.late) ++entrant.late;
          if (m.host_was_busy() && !contest.in_virtual_time()) ++entrant.busy_host;
        }
      }
    }
  }

  static Contest contest_without_phase(const BenchTrial& trial) {
    Contest contest;
    contest.device = trial.device;
    contest.workload = trial.workload;
    contest.parameters = trial.parameters;
    contest.scale = trial.scale;
    contest.clock = trial.clock_kind();
    return contest;
  }

  Result<void> metrics() {
    return each("bench_metrics", [&](const Row& row) {
      auto& rows = bench_.metrics[row_identity(row)];
      const std::string name = row.text("name"), unit = row.text("unit");
      if (rows.empty() || rows.back().name != name || rows.back().unit != unit)
        rows.push_back({name, unit, {}});
      Entrant entrant;
      entrant.filesystem = row.text("filesystem");
      entrant.variant = row.text("variant");
      rows.back().means[entrant.name()] = row.real("mean");
    });
  }

  Result<void> latency() {
    TRY(curves("bench_latency", bench_.latency));
    return curves("bench_flushes", bench_.flushes);
  }

  Result<void> curves(const std::string& query, std::vector<BenchCurve>& curves) {
    return each(query, [&](const Row& row) {
      const std::string device = row.text("device"), workload = row.text("workload"),
                        parameters = row.text("parameters"), filesystem = row.text("filesystem"),
                        variant = row.text("variant");
      const auto same = [&](const BenchCurve& c) {
        return c.device == device && c.workload == workload && c.parameters == parameters &&
               c.filesystem == filesystem && c.variant == variant;
      };
      if (curves.empty() || !same(curves.back()))
        curves.push_back({device, workload, parameters, filesystem, variant, 0, {}});
      curves.back().requests += row.integer("requests");
      curves.back().points.emplace_back(row.real("upper_us"), row.real("share"));
    });
  }

  Result<void> load() {
    return each("bench_load", [&](const Row& row) {
      BenchLoad of{.device = row.text("device"),
                   .workload = row.text("workload"),
                   .parameters = row.text("parameters"),
                   .phase = row.text("phase"),
                   .filesystem = row.text("filesystem"),
                   .variant = row.text("variant"),
                   .spans = {}};
      auto& all = bench_.load;
      const double begin_ms = row.real("begin_ms");
      // Rows for several scales of a workload may follow each other. A time that does not increase
      // marks the beginning of the next scale.
      const bool same =
          !all.empty() && all.back().device == of.device && all.back().workload == of.workload &&
          all.back().parameters == of.parameters && all.back().phase == of.phase &&
          all.back().name() == of.name() && all.back().spans.back().begin_ms < begin_ms;
      if (!same) all.push_back(std::move(of));
      all.back().spans.push_back(
          {begin_ms, row.real("end_ms"),
           static_cast<double>(row.integer("bytes_read") + row.integer("bytes_written")),
           row.real("inside")});
    });
  }

  Result<void> io() {
    return each("bench_io", [&](const Row& row) {
      const std::string key = row.text("key");
      if (bench_.io.empty() || bench_.io.back().io.key != key) {
        bench_.io.push_back(
            {row.text("device"),
             row.text("workload") + " " + row.text("parameters"),
             {.filesystem = row.text("filesystem"), .key = key, .cut_ms = {}, .points = {}}});
      }
      bench_.io.back().io.points.push_back({row.real("at_ms"), row.integer("lba"), row.text("op"),
                                            row.integer("sectors"), row.maybe_real("response_us")});
    });
  }

  db::Database& database_;
  Benchmark& bench_;
  std::map<std::string, std::size_t> places_;
};

}  // namespace

std::span<const Measure> measures() {
  return kMeasures;
}

std::string figure(double value, Unit unit) {
  if (!std::isfinite(value)) return "no number";
  switch (unit) {
    case Unit::milliseconds:
      return milliseconds(value);
    case Unit::microseconds:
      return microseconds(value);
    case Unit::bytes:
      return bytes(value);
    case Unit::share:
      return percent(value);
    case Unit::ratio:
      return fmt::format("{:.2f}", value);
    case Unit::rate:
      return fmt::format("{:.{}f}", value, value < 10 ? 2 : value < 100 ? 1 : 0);
    case Unit::count:
      break;
  }
  return fmt::format("{:.0f}", value);
}

std::string Contest::setting() const {
  return parameters.empty() || is_of_a_tool() ? workload : workload + " " + parameters;
}

std::string Contest::identity() const {
  return identity_of(device, workload, parameters, scale, phase, clock);
}

std::size_t Benchmark::failed() const {
  return static_cast<std::size_t>(std::ranges::count_if(trials, &BenchTrial::failed));
}

std::string BenchTrial::clock_kind() const {
  return clock == "virtual" || clock.starts_with(kChargedPrefix) ? clock : "real";
}

std::string Benchmark::clock() const {
  const auto found = std::ranges::find_if(trials, &BenchTrial::in_virtual_time);
  return found == trials.end() ? "real" : found->clock;
}

Result<Benchmark> gather_benchmark(db::Database& database, std::optional<std::int64_t> run) {
  if (!run) {
    TRY(const auto newest, database.newest_run("bench"));
    if (!newest)
      return fail(
          database.path().string(), "contains no benchmark",
          "run headcrash bench FILE.toml first; --baseline and --csv apply only to benchmarks");
    run = newest;
  }
  TRY(auto facts, gather_outline(database, *run));
  if (facts.run.kind != "bench") {
    return fail(database.path().string(),
                fmt::format("run {} is a {}, not a benchmark", facts.run.id, facts.run.kind),
                "select a run of headcrash bench with --run");
  }
  Benchmark bench;
  bench.facts = std::move(facts);
  TRY(BenchmarkReader(database, bench).run());
  return bench;
}

Result<std::string> kind_of_run(db::Database& database, std::optional<std::int64_t> run) {
  TRY(auto select, db::Statement::prepare(
                       database.handle(),
                       "SELECT kind FROM run WHERE id = coalesce(?, (SELECT max(id) FROM run))"));
  TRY(const auto row, select.bind(run).step());
  return row ? select.text(0) : std::string{};
}

}  // namespace headcrash::report
