// Formats the result of an exploration as text and as JSON (explored.h).
#include "harness/cli/explored.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "harness/cli/host_usage.h"
#include "harness/cli/lab_command.h"
#include "harness/explorer/reproduce/failure_report.h"
#include "harness/explorer/reproduce/minimise.h"

namespace headcrash::cli {
namespace {

using nlohmann::json;

constexpr std::size_t kFindingsShown = 8;

double per_second(std::uint64_t count, double ms) {
  return ms > 0 ? static_cast<double>(count) * 1000 / ms : 0;
}

double share(const explorer::ExplorationResult& result, std::size_t step) {
  double whole = 0;
  for (const double ms : result.step_ms) whole += ms;
  return whole > 0 ? result.step_ms.at(step) / whole : 0;
}

json describe(const Explored& explored, const explorer::ConfirmedFailure& failure) {
  const explorer::StateOutcome& outcome = failure.outcome;
  return {{"state", outcome.full_name()},
          {"strategy", states::name(outcome.strategy)},
          {"recording", kept_recording(explored, outcome.recording)},
          {"persisted_operation",
           outcome.persisted_operation ? json(*outcome.persisted_operation) : json()},
          {"verdict", oracle::name(outcome.judgement.verdict)},
          {"summary", outcome.judgement.summary},
          {"confirmed", failure.confirmed},
          {"disagreement", failure.disagreement},
          {"findings", findings_as_json(outcome.findings)},
          {"log", outcome.log}};
}

void print_coverage(const explorer::ExplorationResult& result) {
  fmt::print("{:<12} {:>12} {:>10} {:>9} {:>9}  {}\n", "strategy", "space", "generated", "distinct",
             "explored", "left out");
  for (const states::Coverage& part : result.coverage) {
    const double fraction = part.space > 0 ? static_cast<double>(part.generated) / part.space : 1;
    fmt::print("{:<12} {:>12.6g} {:>10} {:>9} {:>7.2f} %  {}\n", states::name(part.strategy),
               part.space, part.generated, part.distinct, 100 * std::min(fraction, 1.0),
               part.bound);
  }
}

/// All failures of one kind. `shown` is the first of them that was reproduced.
struct KindOfFailure {
  const explorer::ConfirmedFailure* shown = nullptr;
  std::uint64_t states = 0;
};

std::string kind_text(const explorer::StateOutcome& outcome) {
  return explorer::format(explorer::kind_of(outcome.judgement, outcome.findings));
}

/// Groups failures by kind. The groups are in the order in which the first failure of each kind was
/// found.
std::vector<KindOfFailure> kinds_of(const explorer::ExplorationResult& result) {
  std::vector<KindOfFailure> kinds;
  std::map<std::string, std::size_t> places;
  for (const explorer::ConfirmedFailure& failure : result.failures) {
    const std::string called = (failure.confirmed ? "" : "not ") + kind_text(failure.outcome);
    const auto [place, fresh] = places.try_emplace(called, kinds.size());
    if (fresh) kinds.push_back({&failure, 0});
    if (!failure.confirmed) ++kinds[place->second].states;
  }
  for (const explorer::StateOutcome& outcome : result.outcomes) {
    const auto place = places.find(kind_text(outcome));
    if (place != places.end()) ++kinds[place->second].states;
  }
  return kinds;
}

std::string more(std::uint64_t count, const char* one, const char* many) {
  return fmt::format("{} more {}", count, count == 1 ? one : many);
}

void print_failure(const KindOfFailure& kind) {
  const explorer::ConfirmedFailure& failure = *kind.shown;
  const explorer::StateOutcome& outcome = failure.outcome;
  fmt::print(
      "{} {}: {}{}\n    {}\n", failure.confirmed ? "FAILURE" : "NOT REPRODUCED",
      outcome.full_name(), oracle::name(outcome.judgement.verdict),
      kind.states > 1 ? ", and " + more(kind.states - 1, "state like it", "states like it") : "",
      outcome.judgement.summary);
  std::size_t shown = 0;
  for (const oracle::Finding& finding : outcome.findings) {
    if (++shown > kFindingsShown) break;
    fmt::print("    [{}] {}: {}: expected {}, found {}\n", oracle::name(finding.tier), finding.path,
               oracle::name(finding.kind), finding.expected, finding.found);
  }
  if (outcome.findings.size() > kFindingsShown)
    fmt::print("    ... and {}\n",
               more(outcome.findings.size() - kFindingsShown, "finding", "findings"));
  if (!failure.disagreement.empty()) fmt::print("    {}\n", failure.disagreement);
}

json rules_as_json(const Explored& explored) {
  json list = json::array();
  for (const explorer::BrokenRule& broken : explored.broken_rules)
    list.push_back({{"rule", broken.rule},
                    {"disk", broken.disk},
                    {"event", broken.event},
                    {"requests", broken.requests},
                    {"text", broken.text}});
  return list;
}

json issuers_as_json(const explorer::RecordedWorkload& workload) {
  if (!workload.issuers) return nullptr;
  return {{"requests", workload.issuers->requests},
          {"known", workload.issuers->known},
          {"lost_events", workload.issuers->lost_events}};
}

void print_rules(const Explored& explored) {
  if (explored.rules_checked_on == 0) return;
  const std::string& stack = explored.filesystem.stack->name;
  if (explored.broken_rules.empty())
    fmt::print("rules of the stack {}: obeyed by all requests of {} recording{}\n", stack,
               explored.rules_checked_on, explored.rules_checked_on == 1 ? "" : "s");
  for (const explorer::BrokenRule& broken : explored.broken_rules)
    fmt::print("RULE BROKEN by the stack {}: {}, {}: {}\n", stack, broken.rule, broken.disk,
               broken.text);
}

/// Returns a remark for the output if this file system is expected to lose data, or if its
/// documentation permits losses.
std::string expectation_text(const adapters::LinuxAdapter& filesystem) {
  if (filesystem.expected == adapters::Expectation::loss)
    return " (a negative control: as expected)";
  if (filesystem.expected == adapters::Expectation::any && filesystem.stack)
    return fmt::format(" (documented: {})", filesystem.expected_reason);
  return "";
}

void print_failures(const explorer::ExplorationResult& result) {
  for (const KindOfFailure& kind : kinds_of(result)) print_failure(kind);
  if (result.unconfirmed > 0)
    fmt::print(
        "{} failures of these kinds were counted but not re-verified (--json lists all states)\n",
        result.unconfirmed);
}

std::size_t confirmed_kinds(const explorer::ExplorationResult& result) {
  return explorer::first_of_each_kind(result.failures).size();
}

}  // namespace

std::string kept_recording(const Explored& explored, const std::filesystem::path& recording) {
  return explored.kept.empty() ? "" : (explored.kept / recording.filename()).string();
}

std::string share_text(const explorer::IssuerShare& issuers) {
  const double share = issuers.requests > 0 ? static_cast<double>(issuers.known) /
                                                  static_cast<double>(issuers.requests)
                                            : 1;
  return fmt::format("known for {} of {} writes and flushes ({:.1f} %){}", issuers.known,
                     issuers.requests, 100 * share,
                     issuers.lost_events > 0
                         ? fmt::format("; the guest's buffer lost {} events", issuers.lost_events)
                         : "");
}

std::string headline(const Explored& explored) {
  const explorer::ExplorationResult& result = explored.result;
  const std::string& name = explored.filesystem.name;
  const std::string so_far = explored.interrupted ? "interrupted: " : "";
  if (explored.workload.failure)
    return fmt::format("{}{}: workload-failed; {}; before that, {} of {} crash states failed",
                       so_far, name, *explored.workload.failure, result.checked - result.clean,
                       result.checked);
  if (result.checked == 0) return so_far + name + ": no crash state was checked";
  const std::uint64_t failing = result.checked - result.clean;
  const std::size_t kinds = confirmed_kinds(result);
  const char* promised =
      result.judged ? "had everything that was promised" : "recovered and mounted";
  if (failing == 0)
    return fmt::format("{}{}: passed; all {} crash states {}", so_far, name, result.checked,
                       promised);
  if (kinds > 0) {
    return fmt::format(
        "{}{}: FAILED; {} of {} crash states failed, in {} that {} reproduced on a fresh guest{}",
        so_far, name, failing, result.checked,
        kinds == 1 ? "one way" : fmt::format("{} ways", kinds), kinds == 1 ? "was" : "were",
        expectation_text(explored.filesystem));
  }
  return fmt::format(
      "{}{}: inconclusive; {} of {} crash states failed, but none of them failed again on a "
      "fresh guest",
      so_far, name, failing, result.checked);
}

json describe(const Explored& explored) {
  const explorer::ExplorationResult& result = explored.result;
  json coverage = json::array(), failures = json::array(), steps = json::object();
  for (const states::Coverage& part : result.coverage) {
    coverage.push_back({{"strategy", states::name(part.strategy)},
                        {"space", part.space},
                        {"generated", part.generated},
                        {"distinct", part.distinct},
                        {"bound", part.bound}});
  }
  for (const explorer::ConfirmedFailure& failure : result.failures)
    failures.push_back(describe(explored, failure));
  for (std::size_t i = 0; i < explorer::kStepKinds; ++i)
    steps[std::string(explorer::name(static_cast<explorer::StepKind>(i)))] = {
        {"ms", result.step_ms.at(i)}, {"share", share(result, i)}};
  return {{"headline", headline(explored)},
          {"filesystem", explored.filesystem.name},
          {"recording", kept_recording(explored, explored.workload.recording)},
          {"operations", explored.workload.operations.size()},
          {"application",
           explored.workload.application ? json(explored.workload.application->name) : json()},
          {"judged", result.judged},
          {"workload_failure", explored.workload.failure.value_or("")},
          {"issuers", issuers_as_json(explored.workload)},
          {"coverage", coverage},
          {"checked", result.checked},
          {"clean", result.clean},
          {"verdicts", explored.verdicts},
          {"failures", failures},
          {"failures_not_confirmed_again", result.unconfirmed},
          {"checked_in_guest_too", result.sampled},
          {"disagreements", result.disagreements},
          {"broken_rules", rules_as_json(explored)},
          {"attribution", explored.attribution},
          {"steps", steps},
          {"guest", explored.virtual_time ? "virtual" : "qemu"},
          {"wall_ms", result.wall_ms},
          {"cpu_ms", explored.cpu_s * 1000},
          {"peak_memory_bytes", peak_memory_bytes()},
          {"generate_ms", result.generate_ms},
          {"guests_used", result.restores},
          {"states_per_second", per_second(result.checked, result.wall_ms)},
          {"interrupted", explored.interrupted}};
}

void print_text(const Explored& explored) {
  const explorer::ExplorationResult& result = explored.result;
  const auto& application = explored.workload.application;
  fmt::print("{}\n", headline(explored));
  const std::string recording = kept_recording(explored, explored.workload.recording);
  fmt::print("{}{}{}\n",
             application ? "application " + application->name
                         : fmt::format("{} operations", explored.workload.operations.size()),
             recording.empty() ? "" : ", ", recording);
  if (!result.judged)
    fmt::print(
        "the recording has no list of operations: recovery, mount and second recovery are checked, but not "
        "the contents of files (add --workload)\n");
  print_coverage(result);
  fmt::print("verdicts:");
  for (const auto& [verdict, count] : explored.verdicts) fmt::print(" {} {}", count, verdict);
  fmt::print("\n");
  print_failures(result);
  if (explored.workload.issuers)
    fmt::print("issuers: {}\n", share_text(*explored.workload.issuers));
  print_rules(explored);
  if (!explored.attribution.empty()) fmt::print("attributed to {}\n", explored.attribution);
  fmt::print("steps:");
  for (std::size_t i = 0; i < explorer::kStepKinds; ++i)
    fmt::print(
        " {} {:.1f} ms ({:.0f} %)", explorer::name(static_cast<explorer::StepKind>(i)),
        result.step_ms.at(i) / static_cast<double>(std::max<std::uint64_t>(result.checked, 1)),
        100 * share(result, i));
  fmt::print(
      "\n{} states in {:.1f} s: {:.1f} per second, {:.0f} ms of CPU each; generated at {:.0f} per "
      "second; {}\n",
      result.checked, result.wall_ms / 1000, per_second(result.checked, result.wall_ms),
      explored.cpu_s * 1000 / static_cast<double>(std::max<std::uint64_t>(result.checked, 1)),
      per_second(result.checked, result.generate_ms), peak_memory_text());
  fmt::print(
      "{} states also checked entirely in the guest, with {} disagreements; {} guests "
      "used\n",
      result.sampled, result.disagreements, result.restores);
  std::fflush(stdout);  // flush now, because further output goes to standard error
}

}  // namespace headcrash::cli
