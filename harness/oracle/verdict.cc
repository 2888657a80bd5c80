// Derives a single verdict from a recovery and its findings (verdict.h).
#include "harness/oracle/verdict.h"

#include <fmt/format.h>

#include <algorithm>

#include "plugin/base/names.h"
#include "plugin/base/printable.h"

namespace headcrash::oracle {

namespace {

constexpr auto kVerdicts = base::names<Verdict>(
    {"clean", "replayed", "repaired-by-fsck", "broken-rule", "stale-data", "non-atomic-rename",
     "resurrected", "zero-length", "wrong-data", "lost-synced-data", "not-repairable",
     "unmountable", "recovery-not-idempotent", "hang", "oops", "workload-failed", "harness-error"});
constexpr auto kTiers =
    base::names<Tier>({"posix", "documented", "de-facto", "integrity", "litmus"});

}  // namespace

std::string_view name(Verdict verdict) {
  return kVerdicts[verdict];
}

Verdict verdict_named(std::string_view name) {
  return kVerdicts.parse(name).value_or(Verdict::harness_error);
}

bool keeps_promises(Verdict verdict) {
  return verdict == Verdict::clean || verdict == Verdict::replayed;
}

std::string_view name(Tier tier) {
  return kTiers[tier];
}

Verdict verdict_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::timeout:
      return Verdict::hang;
    case ErrorKind::guest_died:
      return Verdict::oops;
    case ErrorKind::workload:
      return Verdict::workload_failed;
    case ErrorKind::unmountable:
      return Verdict::unmountable;
    case ErrorKind::not_repairable:
      return Verdict::not_repairable;
    case ErrorKind::other:
    case ErrorKind::busy:
    case ErrorKind::cannot_run:
    case ErrorKind::does_not_start:
    case ErrorKind::interrupted:
    case ErrorKind::damaged:
    case ErrorKind::malformed:
    case ErrorKind::refused:
    case ErrorKind::unsupported:
      break;
  }
  return Verdict::harness_error;
}

Judgement judgement_of(const Error& error) {
  return {verdict_of(error.kind), base::printable_lines(error.message())};
}

Judgement judge_trial(const Recovery& recovery, const std::vector<Finding>& findings) {
  if (!recovery.mounted)
    return {Verdict::unmountable, "the file system could not be mounted again"};
  if (recovery.check_found_damage && !recovery.repaired) {
    return {Verdict::not_repairable, "the check found damage that was not repaired"};
  }
  const std::string check =
      recovery.check_found_damage ? "fsck repaired damage" : "fsck reported no errors";
  if (!findings.empty()) {
    const Finding& worst =
        *std::max_element(findings.begin(), findings.end(),
                          [](const Finding& a, const Finding& b) { return a.kind < b.kind; });
    const auto alike = std::count_if(findings.begin(), findings.end(),
                                     [&](const Finding& f) { return f.kind == worst.kind; });
    const std::string others =
        alike == 1 ? ""
                   : fmt::format("; {} more object{} likewise", alike - 1, alike == 2 ? "" : "s");
    return {worst.kind, fmt::format("{}: expected {}, found {}{}; {}", worst.path, worst.expected,
                                    worst.found, others, check)};
  }
  if (recovery.check_found_damage)
    return {Verdict::repaired_by_fsck,
            "fsck repaired damage that the replay had left; all synced data is there"};
  if (recovery.refused_as_cut) {
    return {Verdict::replayed,
            "the kernel refused to mount the file system after the cut, but mounted it after the "
            "replay command; all synced data is there"};
  }
  if (recovery.replayed)
    return {Verdict::replayed, "the log was replayed; all synced data is there"};
  return {Verdict::clean, "no recovery was needed; all synced data is there"};
}

}  // namespace headcrash::oracle
