// Formats a benchmark as JSON (bench_export.h).
#include <algorithm>
#include <cmath>

#include "results/report/bench/bench_answer.h"
#include "results/report/bench/bench_export.h"
#include "results/report/frame/html.h"

namespace headcrash::report {
namespace {

using Json = nlohmann::json;

Json optional_json(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? Json(*value) : Json();
}

Json interval_json(const std::optional<statistics::Interval>& interval) {
  return interval ? Json{interval->low, interval->high} : Json();
}

Json statistics_json(const statistics::Summary& s) {
  return {{"count", s.count},         {"median", s.median},
          {"mean", s.mean},           {"interval", interval_json(s.mean_interval)},
          {"deviation", s.deviation}, {"least", s.least},
          {"greatest", s.greatest},   {"outliers", s.outliers.size()}};
}

Json ratio_json(const statistics::Comparison& comparison) {
  return {{"ratio", comparison.ratio},
          {"interval", interval_json(comparison.interval)},
          {"change", change_name(comparison.change)}};
}

Json measurement_json(const Measurement& m) {
  Json values = {{"trial", m.trial},
                 {"repetition", m.repetition},
                 {"late", m.late},
                 {"host_busy", optional_json(m.host_busy)}};
  for (std::size_t i = 0; i < measures().size(); ++i)
    values[std::string(measures()[i].column)] = optional_json(m.values[i]);
  return values;
}

Json plain_texts(const std::vector<std::string>& lines) {
  Json array = Json::array();
  for (const std::string& line : lines) array.push_back(valid_utf8(line));
  return array;
}

Json entrant_json(const Entrant& entrant) {
  const Standing& s = entrant.standing;
  Json out = {{"filesystem", valid_utf8(entrant.filesystem)},
              {"variant", valid_utf8(entrant.variant)},
              {"failed", entrant.failed},
              {"late", entrant.late},
              {"busy_host", entrant.busy_host},
              {"marks", plain_texts(marks_of(entrant))},
              {"rank", nullptr},
              {"cpu_bound", s.kind == Standing::Kind::cpu_bound},
              {"idle", s.kind == Standing::Kind::idle},
              {"measurements", Json::array()}};
  if (s.kind != Standing::Kind::unmeasured) {
    out["ranked_by_ms"] = statistics_json(s.ranking);
    out["elapsed_ms"] = statistics_json(s.elapsed);
    out["busy_share"] = s.busy_share;
    out["elapsed_busy_share"] = s.elapsed_busy_share;
    out["processor_share"] = optional_json(s.processor_share);
    out["spread"] = s.spread();
  }
  if (s.kind == Standing::Kind::ranked) {
    out["rank"] = s.rank;
    out["to_best"] = ratio_json(s.to_best);
    out["pairs"] = s.pairs;
  }
  for (const Measurement& m : entrant.measurements)
    out["measurements"].push_back(measurement_json(m));
  return out;
}

Json metrics_json(const std::vector<MetricRow>& metrics) {
  Json array = Json::array();
  for (const MetricRow& metric : metrics) {
    Json means = Json::object();
    for (const auto& [entrant, mean] : metric.means)
      means[valid_utf8(entrant)] = optional_json(mean);
    array.push_back(
        {{"name", valid_utf8(metric.name)}, {"unit", valid_utf8(metric.unit)}, {"means", means}});
  }
  return array;
}

Json contest_json(const Benchmark& bench, const Contest& contest) {
  Json out = {{"device", valid_utf8(contest.device)},
              {"workload", valid_utf8(contest.workload)},
              {"parameters", valid_utf8(contest.parameters)},
              {"scale", contest.scale},
              {"phase", valid_utf8(contest.phase)},
              {"operation", valid_utf8(contest.operation)},
              {"clock", contest.clock},
              {"ranked_by", contest.ranked_by()},
              {"entrants", Json::array()}};
  for (const Entrant& entrant : contest.entrants) out["entrants"].push_back(entrant_json(entrant));
  const auto metrics = bench.metrics.find(contest.identity());
  if (metrics != bench.metrics.end()) out["metrics"] = metrics_json(metrics->second);
  return out;
}

Json change_json(const CellChange& c) {
  Json out = {{"device", valid_utf8(c.device)},
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

Json baseline_json(const BaselineComparison& comparison) {
  Json changes = Json::array();
  for (const CellChange& change : comparison.changes) changes.push_back(change_json(change));
  return {{"database", valid_utf8(comparison.database)},
          {"run", comparison.run.id},
          {"tolerance", comparison.tolerance},
          {"regressions", comparison.regressions()},
          {"differences", plain_texts(comparison.differences)},
          {"cells", changes}};
}

Json recorded(const std::string& text) {
  const Json parsed = Json::parse(text, nullptr, false);
  return parsed.is_discarded() ? Json(valid_utf8(text)) : parsed;
}

}  // namespace

Json bench_json(const Benchmark& bench, const BaselineComparison* baseline) {
  const BenchAnswer answer = answer_of(bench);
  const Run& run = bench.facts.run;
  Json out = {{"run", run.id},
              {"kind", run.kind},
              {"name", valid_utf8(run.name)},
              {"configuration", valid_utf8(run.configuration)},
              {"digest", valid_utf8(run.digest)},
              {"seed", run.seed},
              {"started_at", run.started_at},
              {"finished_at", run.finished_at ? Json(*run.finished_at) : Json()},
              {"interrupted", run.interrupted()},
              {"trials", run.recorded},
              {"trials_planned", run.planned},
              {"failed", bench.failed()},
              {"host", recorded(run.host)},
              {"versions", recorded(run.versions)},
              {"accelerator", valid_utf8(run.accelerator)},
              {"clock", bench.clock()},
              {"answer", valid_utf8(answer.status)},
              {"cautions", plain_texts(answer.notes)},
              {"contests", Json::array()},
              {"failed_trials", Json::array()}};
  for (const Contest& contest : bench.contests)
    out["contests"].push_back(contest_json(bench, contest));
  for (const BenchTrial& trial : bench.trials)
    if (trial.failed())
      out["failed_trials"].push_back({{"key", valid_utf8(trial.key)},
                                      {"verdict", valid_utf8(trial.verdict)},
                                      {"reason", valid_utf8(trial.summary)}});
  if (baseline != nullptr) out["baseline"] = baseline_json(*baseline);
  return out;
}

}  // namespace headcrash::report
