// Steps and their times, and one verdict from what they say (check_state.h).
#include "harness/lab/in_process/check_state.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/process/stopwatch.h"

namespace headcrash::in_process {
namespace {

constexpr std::size_t kFindingsMax = 200;
constexpr std::size_t kJudgedMax = 4096;  // trees remembered

/// Everything that the oracle looks at, as bytes: equal trees have equal ones.
std::string fingerprint(std::optional<std::size_t> persisted,
                        const std::vector<crash::ObservedObject>& tree) {
  std::string bytes;
  bytes.reserve(64 * tree.size());
  const auto number = [&](std::uint64_t value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  };
  const auto text = [&](const std::string& value) {
    number(value.size());
    bytes += value;
  };
  number(persisted ? *persisted + 1 : 0);
  for (const crash::ObservedObject& object : tree) {
    text(object.path);
    text(object.link_target);
    number(static_cast<std::uint64_t>(object.type) | static_cast<std::uint64_t>(object.error) << 8U |
           std::uint64_t{object.links} << 40U);
    number(object.inode);
    number(object.size_bytes);
    number(object.runs.size());
    for (const crash::ContentRun& run : object.runs) {
      number(static_cast<std::uint64_t>(run.kind) | run.blocks << 8U);
      number(std::uint64_t{run.file} << 32U | run.version);
      number(run.stamped_block);
      bytes.append(reinterpret_cast<const char*>(run.head.data()), run.head.size());
    }
  }
  return bytes;
}

std::string place_of(const ufs::Finding& finding) {
  if (finding.inode != 0) return fmt::format("inode {}", finding.inode);
  return finding.block != 0 ? fmt::format("fragment {}", finding.block) : "file system";
}

std::string counts(const std::map<ufs::FindingKind, std::uint32_t>& found) {
  std::string text;
  for (const auto& [kind, count] : found)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, ufs::name_of(kind));
  return text;
}

}  // namespace

std::string_view name(StepKind step) {
  constexpr std::array<std::string_view, kStepKinds> kNames{"generate", "rules",        "show", "check",
                                                            "repair",   "second check", "tree", "judge"};
  return kNames.at(static_cast<std::size_t>(step));
}

Result<StateChecker> StateChecker::create(const ufs::SchemeVariant& scheme, StateDisk& disk, ufs::Fsck& fsck,
                                          std::span<const workload::Operation> operations,
                                          const std::vector<workload::Mishap>& mishaps) {
  auto oracle = crash::Oracle::follow(operations, {.promises = promises_of(scheme), .mishaps = mishaps});
  if (!oracle) return pass_on(oracle);
  return StateChecker(scheme, disk, fsck, std::move(*oracle));
}

const std::vector<crash::Finding>& StateChecker::judge(std::optional<std::size_t> persisted,
                                                       const std::vector<crash::ObservedObject>& tree) {
  std::string key = fingerprint(persisted, tree);
  if (const auto known = judged_.find(key); known != judged_.end()) return known->second;
  if (judged_.size() >= kJudgedMax) judged_.clear();
  return judged_.emplace(std::move(key), oracle_.judge(persisted, tree)).first->second;
}

StateOutcome StateChecker::check(std::optional<std::size_t> persisted, StepTimes& times) {
  StateOutcome outcome{.persisted = persisted};
  process::Stopwatch watch;
  const auto step = [&](StepKind kind) { times.at(static_cast<std::size_t>(kind)) += watch.lap(); };
  const auto end = [&](crash::Verdict verdict, std::string why) {
    outcome.judgement = {verdict, std::move(why)};
    return outcome;
  };
  const auto first = fsck_->check(*disk_, kFindingsMax);
  step(StepKind::check);
  if (!first)
    return end(crash::Verdict::unmountable, "fsck finds no file system: " + first.error().message());
  crash::Recovery recovery;
  std::string forbidden;
  for (const ufs::Finding& finding : first->findings) {
    ++outcome.found[finding.kind];
    if (permitted(*scheme_, finding.kind)) continue;
    recovery.check_found_damage = true;
    if (forbidden.empty()) forbidden = fmt::format("{}: {}", place_of(finding), finding.text);
  }
  if (!first->nothing_found() || !first->was_clean) {
    const auto repaired = fsck_->run(*disk_, {.repair = true, .findings_max = 0});
    step(StepKind::repair);
    if (!repaired)
      return end(crash::Verdict::not_repairable, "the repair ended: " + repaired.error().message());
    const auto second = fsck_->check(*disk_, kFindingsMax);
    step(StepKind::second_check);
    if (!second || !second->nothing_found())
      return end(
          crash::Verdict::not_repairable,
          "after the repair fsck finds " + (!second                    ? second.error().message()
                                            : second->findings.empty() ? "more"
                                                                       : second->findings.front().text));
  }
  const auto tree = observer_.observe();
  step(StepKind::tree);
  if (!tree)
    return end(crash::Verdict::not_repairable,
               "fsck finds nothing, and the tree cannot be read: " + tree.error().message());
  outcome.findings = judge(persisted, *tree);
  outcome.names_of_exchanges = std::erase_if(outcome.findings, [](const crash::Finding& finding) {
    return finding.kind == crash::Verdict::wrong_data && finding.expected == "no such name" &&
           ufs::is_name_of_exchange(finding.path);
  });
  step(StepKind::judge);
  outcome.judgement = crash::judge_trial(recovery, outcome.findings);
  if (recovery.check_found_damage && outcome.findings.empty()) {
    outcome.judgement.summary = fmt::format("fsck found what {} may not leave ({}); first: {}", scheme_->name,
                                            counts(outcome.found), forbidden);
  } else if (outcome.judgement.verdict == crash::Verdict::clean && !outcome.found.empty()) {
    outcome.judgement.summary = "fsck found no more than the scheme may leave: " + counts(outcome.found);
  }
  return outcome;
}

}  // namespace headcrash::in_process
