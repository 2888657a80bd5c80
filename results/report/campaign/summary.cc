// Formats the numbers of a campaign's page as JSON. Uses the same facts and the same answer as the
// page.
#include <nlohmann/json.hpp>

#include "results/report/campaign/facts.h"
#include "results/report/frame/answer.h"
#include "results/report/frame/html.h"
#include "results/report/report.h"

namespace headcrash::report {
namespace {

using nlohmann::json;

json spread(const Spread& s) {
  return {{"median", s.median}, {"min", s.min}, {"max", s.max}};
}

json cell_json(const Cell& c) {
  json cell = {{"filesystem", valid_utf8(c.filesystem)},
               {"variant", valid_utf8(c.variant)},
               {"control", nullptr},
               {"device", valid_utf8(c.device)},
               {"workload", valid_utf8(c.workload)},
               {"expected", c.expected},
               {"trials", c.trials},
               {"clean", c.clean},
               {"replayed", c.replayed},
               {"lost", c.lost},
               {"known", c.known},
               {"other", c.other},
               {"uncut", c.uncut},
               {"late", c.late},
               {"unexpected", c.unexpected},
               {"as_promised", nullptr}};
  if (c.met) cell["as_promised"] = *c.met;
  if (c.is_control()) cell["control"] = c.must;
  return cell;
}

json system_json(const SystemRow& row) {
  return {{"filesystem", valid_utf8(row.filesystem)},
          {"variant", valid_utf8(row.variant)},
          {"control", row.control},
          {"expected", row.expected},
          {"trials", row.trials},
          {"kept", row.clean + row.replayed},
          {"lost", row.lost},
          {"known", row.known},
          {"other", row.other},
          {"verdicts", valid_utf8(row.verdicts)},
          {"as_expected", row.as_expected ? json(*row.as_expected) : json()}};
}

json trial_json(const Trial& t) {
  json trial = {
      {"key", valid_utf8(t.key)},      {"seed", t.seed},         {"verdict", valid_utf8(t.verdict)},
      {"outcome", t.outcome},          {"expected", t.expected}, {"summary", valid_utf8(t.summary)},
      {"findings", t.findings.size()}, {"late", t.late},         {"cut_at_ms", nullptr}};
  if (t.cut_at_ms) trial["cut_at_ms"] = *t.cut_at_ms;
  return trial;
}

json recovery_json(const Recovery& r) {
  return {{"filesystem", valid_utf8(r.filesystem)},
          {"device", valid_utf8(r.device)},
          {"workload", valid_utf8(r.workload)},
          {"phase", r.phase},
          {"trials", r.trials},
          {"model_ms", spread(r.model_ms)},
          {"wall_ms", spread(r.wall_ms)}};
}

json lateness_json(const Lateness& l) {
  return {{"filesystem", valid_utf8(l.filesystem)},
          {"device", valid_utf8(l.device)},
          {"workload", valid_utf8(l.workload)},
          {"phase", l.phase},
          {"target_mean_us", l.target_mean_us},
          {"achieved_mean_us", l.achieved_mean_us},
          {"p50_us", l.p50_us},
          {"p99_us", l.p99_us},
          {"max_us", l.max_us},
          {"share", l.share},
          {"late_trials", l.late_trials}};
}

json explored_json(const ExploredCell& c) {
  return {{"filesystem", valid_utf8(c.filesystem)},
          {"variant", valid_utf8(c.variant)},
          {"workload", valid_utf8(c.workload)},
          {"control", c.control.empty() ? json() : json(c.control)},
          {"trials", c.trials},
          {"states", c.states},
          {"clean", c.clean},
          {"replayed", c.replayed},
          {"repaired", c.repaired},
          {"lost", c.lost},
          {"other", c.other},
          {"harness_errors", c.harness_errors},
          {"in_guest", c.in_guest},
          {"confirmed", c.confirmed},
          {"unconfirmed", c.unconfirmed}};
}

json stack_json(const StackCell& c) {
  return {{"stack", valid_utf8(c.stack)},
          {"filesystem", valid_utf8(c.filesystem)},
          {"kernel", valid_utf8(c.kernel)},
          {"workload", valid_utf8(c.workload)},
          {"variant", valid_utf8(c.variant)},
          {"states", c.states},
          {"failed", c.failed},
          {"verdict", valid_utf8(c.verdict)},
          {"seconds", c.seconds}};
}

json coverage_json(const StrategyCoverage& c) {
  return {{"filesystem", valid_utf8(c.filesystem)},
          {"variant", valid_utf8(c.variant)},
          {"workload", valid_utf8(c.workload)},
          {"strategy", valid_utf8(c.strategy)},
          {"space", c.space},
          {"generated", c.generated},
          {"distinct", c.distinct_states},
          {"checked", c.checked},
          {"mean_share", c.mean_share},
          {"trials", c.trials},
          {"whole", c.whole}};
}

json failure_json(const Failure& f) {
  return {{"key", valid_utf8(f.key)},
          {"state", valid_utf8(f.state)},
          {"verdict", valid_utf8(f.verdict)},
          {"tier", valid_utf8(f.tier)},
          {"control", f.control.empty() ? json() : json(f.control)},
          {"confirmed", f.confirmed},
          {"account", valid_utf8(f.account)},
          {"replay", valid_utf8(f.replay)}};
}

json step_json(const StepTime& s) {
  return {{"filesystem", valid_utf8(s.filesystem)},
          {"step", valid_utf8(s.step)},
          {"count", s.count},
          {"total_ms", s.total_ms},
          {"share", s.share}};
}

template <typename T, typename ToJson>
json array_of(const std::vector<T>& values, ToJson to_json) {
  json array = json::array();
  for (const auto& value : values) array.push_back(to_json(value));
  return array;
}

json texts(const std::vector<std::string>& lines) {
  return array_of(lines, [](const std::string& line) { return valid_utf8(line); });
}

}  // namespace

Summary summary_of(const Facts& facts) {
  const Answer said = answer(facts);
  const auto& r = facts.run;
  json result = {{"run", r.id},
                 {"kind", r.kind},
                 {"name", valid_utf8(r.name)},
                 {"seed", r.seed},
                 {"started_at", r.started_at},
                 {"finished_at", nullptr},
                 {"interrupted", r.interrupted()},
                 {"trials", r.recorded},
                 {"trials_planned", r.planned},
                 {"unexpected", facts.unexpected()},
                 {"valid", said.valid},
                 {"failed_controls", texts(said.failed_controls)},
                 {"answer", valid_utf8(said.status)},
                 {"controls", valid_utf8(said.controls)},
                 {"cautions", texts(said.notes)},
                 {"systems", array_of(said.systems, system_json)},
                 {"cells", array_of(facts.cells, cell_json)},
                 {"trial_verdicts", array_of(facts.trials, trial_json)},
                 {"recovery", array_of(facts.recovery, recovery_json)},
                 {"lateness", array_of(facts.lateness, lateness_json)}};
  if (!facts.explored.empty()) {
    result["exploration"] = {{"cells", array_of(facts.explored, explored_json)},
                             {"stacks", array_of(facts.stacks, stack_json)},
                             {"coverage", array_of(facts.coverage, coverage_json)},
                             {"failures", array_of(facts.failures, failure_json)},
                             {"failures_in_all", facts.failures_in_all},
                             {"steps", array_of(facts.steps, step_json)}};
  }
  if (r.finished_at) result["finished_at"] = *r.finished_at;
  return Summary{
      .figures = std::move(result),
      .status = valid_utf8(status_text(said)),
      .systems = valid_utf8(facts.stacks.empty() ? systems_text(said) : stacks_text(facts))};
}

Result<Summary> report_summary(db::Database& database, std::optional<std::int64_t> run) {
  TRY(const auto facts, gather(database, run));
  return summary_of(facts);
}

}  // namespace headcrash::report
