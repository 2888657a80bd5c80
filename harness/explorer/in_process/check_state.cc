// Runs the steps of a check, measures their times, and derives the verdict (check_state.h).
#include "harness/explorer/in_process/check_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "harness/run/text_hash.h"
#include "plugin/base/random.h"
#include "plugin/base/stopwatch.h"
#include "plugin/states/digest.h"

namespace headcrash::in_process {
namespace {

constexpr std::uint64_t kLivesOnOneIn = 512, kSecondCutOneIn = 3;
// Limit for the first check. If there are more findings, the state is checked again without a
// limit.
constexpr std::size_t kFindingsMax = 2000;

std::string place_of(const adapters::CheckFinding& finding, const adapters::FileSystemType& type) {
  if (finding.inode != 0) return fmt::format("inode {}", finding.inode);
  return finding.block != 0 ? fmt::format("{} {}", type.address_unit(), finding.block)
                            : "file system";
}

std::string counts(const std::map<adapters::FindingKind, std::uint32_t>& found) {
  std::string text;
  for (const auto& [kind, count] : found)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, kind.name);
  return text;
}

std::string counts(const adapters::Counters& counted) {
  std::string text;
  for (std::size_t i = 0; i < counted.size(); ++i) {
    const char* const between = i == 0 ? "" : i + 1 == counted.size() ? " and " : ", ";
    text += fmt::format("{}{} {}", between, counted[i].value, counted[i].name);
  }
  return text;
}

std::string all_of(const StateOutcome& outcome) {
  std::string text = fmt::format("{} ({}), fsck: {}", oracle::name(outcome.judgement.verdict),
                                 outcome.judgement.summary, counts(outcome.found));
  for (const oracle::Finding& f : outcome.findings)
    text += fmt::format("; {} {} {}: expected {}, found {}", oracle::name(f.kind),
                        oracle::name(f.tier), f.path, f.expected, f.found);
  return text;
}

/// Returns a hash of the state's full name, for use as a seed.
std::uint64_t seed_of(const states::CrashState& state) {
  return run::hash_text(states::format(state), 0);
}

}  // namespace

std::string_view name(StepKind step) {
  constexpr std::array<std::string_view, kStepKinds> kNames{
      "generate",     "rules", "show",  "check",      "repair", "other recovery",
      "second check", "tree",  "judge", "later life", "verify"};
  return kNames.at(static_cast<std::size_t>(step));
}

std::string difference(const StateOutcome& one, const StateOutcome& other) {
  const std::string says = all_of(one);
  const std::string other_says = all_of(other);
  return says == other_says ? std::string() : says + ", not " + other_says;
}

StateFacts facts_of(const RecordedRun& run, const PersistencePoints& points,
                    const states::CrashState& state) {
  return {.persisted = points.before(state.event),
          .settled = run.settled_at(state),
          .unmount = run.unmounted_at(state),
          .cut = state.event,
          .snapshots = run.snapshots,
          .lives_on = seed_of(state) % kLivesOnOneIn == 0 ? std::optional(state) : std::nullopt};
}

Result<StateChecker> StateChecker::create(
    const adapters::SystemUnderTest& system, StateDisk& disk, adapters::ImageChecker& fsck,
    std::optional<std::span<const workload::Operation>> operations,
    const std::vector<workload::FailedOperation>& failed_operations, RememberedChecks* remembered,
    oracle::TreeJudge judge) {
  adapters::Promises promises = system.description().promises;
  if (judge) operations = std::nullopt;
  if (!operations) promises.own_names = {"*"};  // exempts all names from the judgement
  TRY(auto oracle,
      oracle::Oracle::follow(operations.value_or(std::span<const workload::Operation>()),
                             {.promises = promises, .failed_operations = failed_operations}));
  return StateChecker(system, disk, fsck, std::move(oracle), remembered, std::move(judge));
}

Result<adapters::CheckReport> StateChecker::check_without_limit(
    const adapters::CheckOptions& options) {
  TRY(auto report, fsck_->check(*disk_, options));
  if (report.more_findings == 0) return report;
  auto all = options;  // a finding beyond the limit may be one that the rules forbid
  all.findings_max = std::numeric_limits<std::size_t>::max();
  return fsck_->check(*disk_, all);
}

adapters::CheckOptions StateChecker::options_of(const Check& check) const {
  return {.findings_max = kFindingsMax,
          .digests = check.quick ? disk_->digests() : model::SectorDigests(),
          .digest_of = states::digest_sum};
}

Result<std::optional<adapters::CheckReport>> StateChecker::recover_log(Check& check) {
  // The alternative recovery needs the image with its log.
  if (!check.quick || remembered_ == nullptr || recovery_) return std::nullopt;
  auto& step = remembered_->recovery;
  if (const auto* known = step.find()) {
    remembered_->repeat(known->writes);
    return known->report;
  }
  check.all_known = false;
  TRY(auto report, step.run([&] { return fsck_->recover_log(*disk_, options_of(check)); }));
  return step.keep({.report = std::move(report), .writes = remembered_->writes()}).report;
}

Result<const adapters::CheckReport*> StateChecker::first_check(Check& check) {
  TRY(const auto log, recover_log(check));
  TRY(const auto* first, check_recovered(check));
  if (!log) return first;
  report_ = *first;
  report_.log_in_use = log->log_in_use;
  report_.replayed = log->replayed;
  report_.log = log->log;
  report_.findings.insert(report_.findings.begin(), log->findings.begin(), log->findings.end());
  return &report_;
}

Result<const adapters::CheckReport*> StateChecker::check_recovered(Check& check) {
  const auto run = [&] { return check_without_limit(options_of(check)); };
  if (!check.quick || remembered_ == nullptr) {
    TRY(report_, run());
    return &report_;
  }
  if (const auto* known = remembered_->first.find()) return known;
  check.all_known = false;
  TRY(auto report, remembered_->first.run(run));
  return &remembered_->first.keep(std::move(report));
}

Result<void> StateChecker::repair(Check& check) {
  const auto repair = [&] {
    auto options = options_of(check);
    options.findings_max = 0;
    return fsck_->repair(*disk_, options);
  };
  if (!check.quick || remembered_ == nullptr) {
    TRY(repair());
    return {};
  }
  auto& step = remembered_->repair;
  if (const auto* known = step.find()) {
    remembered_->repeat(*known);
    return {};
  }
  check.all_known = false;
  TRY(step.run(repair));
  step.keep(remembered_->writes());
  return {};
}

std::string StateChecker::second_check(Check& check) {
  const bool remembers = check.quick && remembered_ != nullptr;
  if (remembers && remembered_->second.find() != nullptr) return {};
  check.all_known = false;
  const auto run = [&] { return fsck_->check(*disk_, options_of(check)); };
  const auto report = remembers ? remembered_->second.run(run) : run();
  if (!report) return report.error().message();
  if (!report->nothing_found())
    return report->findings.empty() ? "damage" : report->findings.front().text;
  if (remembers) remembered_->second.keep({});
  return {};
}

Result<std::vector<oracle::Finding>> StateChecker::judge_tree(std::optional<std::size_t> persisted,
                                                              Check& check, StepTimes& times) {
  base::Stopwatch watch;
  const auto step = [&](StepKind kind) { times.at(static_cast<std::size_t>(kind)) += watch.lap(); };
  const auto judge = [&]() -> Result<std::vector<oracle::Finding>> {
    const auto tree = judging_->tree.observe();
    step(StepKind::tree);
    if (!tree) return forward_error(tree);
    auto findings = judging_->judge.judge(persisted, *tree);
    step(StepKind::judge);
    return findings;
  };
  if (!check.quick || judging_->replacement) {
    check.all_known = false;
    const auto tree = judging_->observer.observe();
    step(StepKind::tree);
    if (!tree) return forward_error(tree);
    auto findings = judging_->replacement ? judging_->replacement(persisted, *tree)
                                          : judging_->oracle.judge(persisted, *tree);
    step(StepKind::judge);
    return findings;
  }
  if (!judging_->remembered) return judge();
  const auto* known = judging_->remembered->find(persisted ? *persisted + 1 : 0);
  step(StepKind::tree);
  if (known != nullptr) return *known;
  check.all_known = false;
  TRY(auto findings, judging_->remembered->run(judge));
  return judging_->remembered->keep(std::move(findings));
}

/// Derives the verdict from the findings of the first check and the findings of the oracle.
void StateChecker::judge_findings(const adapters::CheckReport& first, const StateFacts& facts,
                                  StateOutcome& outcome) const {
  oracle::Recovery recovery;
  std::string forbidden;
  const bool says_clean = first.was_clean;
  for (const adapters::CheckFinding& finding : first.findings) {
    const bool is_stale = finding.kind.severity == adapters::Severity::stale;
    const bool is_fine =
        facts.any_residue || (facts.settled ? is_stale : system_->may_leave(finding.kind));
    if (is_fine && !says_clean) continue;
    recovery.check_found_damage = true;
    if (forbidden.empty())
      forbidden = fmt::format("{}: {}", place_of(finding, system_->type()), finding.text);
  }
  if (facts.unmount == Unmount::succeeded && !first.was_clean && outcome.findings.empty()) {
    outcome.judgement = {oracle::Verdict::repaired_by_fsck,
                         "the unmount succeeded, but the file system is not marked clean"};
    return;
  }
  outcome.judgement = oracle::judge_trial(recovery, outcome.findings);
  const bool is_clean = outcome.judgement.verdict == oracle::Verdict::clean;
  if (is_clean && facts.settled && !(*facts.settled == first.space)) {
    outcome.judgement = {oracle::Verdict::repaired_by_fsck,
                         "after all writes, the mounted file system counts " +
                             counts(*facts.settled) + ", but the disk has " + counts(first.space)};
  } else if (recovery.check_found_damage && outcome.findings.empty()) {
    outcome.judgement.summary =
        fmt::format("fsck found damage that {} must not leave{} ({}); first: {}", system_->name(),
                    says_clean      ? " on a file system that is marked clean"
                    : facts.settled ? " after all writes"
                                    : "",
                    counts(outcome.found), forbidden);
  } else if (is_clean && !outcome.found.empty()) {
    outcome.judgement.summary =
        "fsck found only residue that the scheme may leave: " + counts(outcome.found);
  }
}

StateOutcome StateChecker::check(const StateFacts& facts, CheckMode mode, StepTimes& times) {
  StateOutcome outcome{.persisted = facts.persisted};
  base::Stopwatch watch;
  const auto step = [&](StepKind kind) { times.at(static_cast<std::size_t>(kind)) += watch.lap(); };
  const auto end = [&](oracle::Verdict verdict, std::string why) {
    outcome.judgement = {verdict, std::move(why)};
    return outcome;
  };
  Check check{.quick = mode == CheckMode::quick};
  const auto checked = first_check(check);
  step(StepKind::check);
  if (!checked)
    return end(oracle::Verdict::unmountable,
               "fsck found no file system: " + checked.error().message());
  const adapters::CheckReport& first = **checked;
  outcome.was_clean = first.was_clean;
  for (const adapters::CheckFinding& finding : first.findings) ++outcome.found[finding.kind];
  if (!first.nothing_found() && !system_->type().repairs_damage()) {
    outcome.left_unrepaired = true;
    return end(oracle::Verdict::not_repairable,
               fmt::format("fsck found damage that it cannot repair ({}); first: {}",
                           counts(outcome.found), first.findings.front().text));
  }
  std::string differs;
  if (recovery_) differs = recovery_->difference(*disk_);
  step(StepKind::other_recovery);
  if (!first.nothing_found() || !first.was_clean) {
    const auto repaired = repair(check);
    step(StepKind::repair);
    if (!repaired)
      return end(oracle::Verdict::not_repairable,
                 "the repair failed: " + repaired.error().message());
    const std::string remains = second_check(check);
    step(StepKind::second_check);
    if (!remains.empty())
      return end(oracle::Verdict::not_repairable, "after the repair, fsck still finds " + remains);
  }
  auto findings = judge_tree(facts.persisted, check, times);
  if (!findings)
    return end(oracle::Verdict::not_repairable,
               "fsck found nothing, but the tree cannot be read: " + findings.error().message());
  outcome.findings = *std::move(findings);
  for (oracle::Finding& finding :
       judge_snapshots(system_->type(), *disk_, facts.snapshots, facts.cut))
    outcome.findings.push_back(std::move(finding));
  judge_findings(first, facts, outcome);
  if (!differs.empty() && keeps_rules(outcome))
    outcome.judgement = {oracle::Verdict::repaired_by_fsck, std::move(differs)};
  outcome.remembered = check.quick && remembered_ != nullptr && check.all_known;
  return outcome;
}

void StateChecker::judge_later_life(const StateFacts& facts, StateOutcome& outcome) {
  if (!facts.lives_on || system_->control() || !keeps_rules(outcome) || judging_->replacement)
    return;
  later_life_.measure_new_disk();
  Random random(seed_of(*facts.lives_on));
  disk_->show(*facts.lives_on);
  later_life_.interrupt_recovery(random.next());
  if (random.below(kSecondCutOneIn) == 0) later_life_.interrupt_recovery(random.next());
  StepTimes none = {};
  StateOutcome recovered = check({.persisted = facts.persisted,
                                  .cut = facts.cut,
                                  .snapshots = facts.snapshots,
                                  .any_residue = true},
                                 CheckMode::plain, none);
  if (!keeps_rules(recovered)) {
    outcome = std::move(recovered);
    outcome.judgement.summary =
        "after further power cuts during the recovery: " + outcome.judgement.summary;
    return;
  }
  std::string broken = later_life_.use(random.next());
  if (!broken.empty()) outcome.judgement = {oracle::Verdict::repaired_by_fsck, std::move(broken)};
}

}  // namespace headcrash::in_process
