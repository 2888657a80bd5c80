// JSON of a benchmark (bench_export.h).
#include <algorithm>
#include <cmath>

#include "results/report/bench_answer.h"
#include "results/report/bench_export.h"
#include "results/report/html.h"

namespace headcrash::report {
namespace {

using nlohmann::json;

json optional_json(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? json(*value) : json();
}

json interval_json(const std::optional<statistics::Interval>& interval) {
  return interval ? json{interval->low, interval->high} : json();
}

json statistics_json(const statistics::Summary& s) {
  return {{"count", s.count},         {"median", s.median},
          {"mean", s.mean},           {"interval", interval_json(s.mean_interval)},
          {"deviation", s.deviation}, {"least", s.least},
          {"greatest", s.greatest},   {"outliers", s.outliers.size()}};
}

json ratio_json(const statistics::Comparison& comparison) {
  return {{"ratio", comparison.ratio},
          {"interval", interval_json(comparison.interval)},
          {"change", change_name(comparison.change)}};
}

json measurement_json(const Measurement& m) {
  json values = {{"trial", m.trial},
                 {"repetition", m.repetition},
                 {"late", m.late},
                 {"host_busy", optional_json(m.host_busy)}};
  for (std::size_t i = 0; i < measures().size(); ++i)
    values[std::string(measures()[i].column)] = optional_json(m.values[i]);
  return values;
}

json texts(const std::vector<std::string>& lines) {
  json array = json::array();
  for (const std::string& line : lines) array.push_back(valid_utf8(line));
  return array;
}

json entrant_json(const Entrant& entrant) {
  const Standing& s = entrant.standing;
  json out = {{"filesystem", valid_utf8(entrant.filesystem)},
              {"variant", valid_utf8(entrant.variant)},
              {"failed", entrant.failed},
              {"late", entrant.late},
              {"busy_host", entrant.busy_host},
              {"marks", texts(marks_of(entrant))},
              {"rank", nullptr},
              {"cpu_bound", s.kind == Standing::Kind::cpu_bound},
              {"measurements", json::array()}};
  if (s.kind != Standing::Kind::unmeasured) {
    out["ranked_by_ms"] = statistics_json(s.ranking);
    out["elapsed_ms"] = statistics_json(s.elapsed);
    out["busy_share"] = s.busy_share;
    out["elapsed_busy_share"] = s.elapsed_busy_share;
    out["spread"] = s.spread();
  }
  if (s.kind == Standing::Kind::ranked) {
    out["rank"] = s.rank;
    out["to_best"] = ratio_json(s.to_best);
    out["pairs"] = s.pairs;
  }
  for (const Measurement& m : entrant.measurements) out["measurements"].push_back(measurement_json(m));
  return out;
}

json metrics_json(const std::vector<MetricRow>& metrics) {
  json array = json::array();
  for (const MetricRow& metric : metrics) {
    json means = json::object();
    for (const auto& [entrant, mean] : metric.means) means[valid_utf8(entrant)] = optional_json(mean);
    array.push_back({{"name", valid_utf8(metric.name)}, {"unit", valid_utf8(metric.unit)}, {"means", means}});
  }
  return array;
}

json contest_json(const Benchmark& bench, const Contest& contest, const std::string& sentence) {
  json out = {{"device", valid_utf8(contest.device)},
              {"workload", valid_utf8(contest.workload)},
              {"parameters", valid_utf8(contest.parameters)},
              {"scale", contest.scale},
              {"phase", valid_utf8(contest.phase)},
              {"operation", valid_utf8(contest.operation)},
              {"ranked_by", contest.to_quiescence ? "quiescent_ms" : "elapsed_ms"},
              {"answer", valid_utf8(sentence)},
              {"entrants", json::array()}};
  for (const Entrant& entrant : contest.entrants) out["entrants"].push_back(entrant_json(entrant));
  const auto metrics = bench.metrics.find(contest.identity());
  if (metrics != bench.metrics.end()) out["metrics"] = metrics_json(metrics->second);
  return out;
}

json change_json(const CellChange& c) {
  json out = {{"device", valid_utf8(c.device)},
              {"setting", valid_utf8(c.setting)},
              {"scale", c.scale},
              {"phase", valid_utf8(c.phase)},
              {"entrant", valid_utf8(c.entrant)},
              {"verdict", change_name(c.change)},
              {"regression", c.regression},
              {"reason", valid_utf8(c.reason)},
              {"then_ms", optional_json(c.before_ms)},
              {"now_ms", optional_json(c.now_ms)}};
  if (c.now_ms) {
    out["compared"] = c.to_quiescence ? "quiescent_ms" : "elapsed_ms";
    out["whole"] = ratio_json(c.whole);
    out["elapsed"] = ratio_json(c.elapsed);
  }
  return out;
}

json baseline_json(const BaselineComparison& comparison) {
  json changes = json::array();
  for (const CellChange& change : comparison.changes) changes.push_back(change_json(change));
  return {{"database", valid_utf8(comparison.database)},
          {"run", comparison.run.id},
          {"tolerance", comparison.tolerance},
          {"regressions", comparison.regressions()},
          {"differences", texts(comparison.differences)},
          {"cells", changes}};
}

json recorded(const std::string& text) {
  const json parsed = json::parse(text, nullptr, false);
  return parsed.is_discarded() ? json(valid_utf8(text)) : parsed;
}

}  // namespace

json bench_json(const Benchmark& bench, const BaselineComparison* baseline) {
  const BenchAnswer answer = answer_of(bench);
  const Run& run = bench.facts.run;
  json out = {{"run", run.id},
              {"kind", run.kind},
              {"name", valid_utf8(run.name)},
              {"configuration", valid_utf8(run.configuration)},
              {"digest", valid_utf8(run.digest)},
              {"seed", run.seed},
              {"started_at", run.started_at},
              {"finished_at", run.finished_at ? json(*run.finished_at) : json()},
              {"interrupted", run.interrupted()},
              {"trials", run.recorded},
              {"trials_planned", run.planned},
              {"failed", bench.failed()},
              {"host", recorded(run.host)},
              {"versions", recorded(run.versions)},
              {"accelerator", valid_utf8(run.accelerator)},
              {"answer", valid_utf8(answer.paragraph)},
              {"cautions", texts(answer.cautions)},
              {"contests", json::array()},
              {"failed_trials", json::array()}};
  for (std::size_t i = 0; i < bench.contests.size(); ++i)
    out["contests"].push_back(contest_json(bench, bench.contests[i], answer.standings[i]));
  for (const BenchTrial& trial : bench.trials)
    if (trial.failed())
      out["failed_trials"].push_back({{"key", valid_utf8(trial.key)},
                                      {"verdict", valid_utf8(trial.verdict)},
                                      {"reason", valid_utf8(trial.summary)}});
  if (baseline != nullptr) out["baseline"] = baseline_json(*baseline);
  return out;
}

}  // namespace headcrash::report
