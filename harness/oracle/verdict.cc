// Derives one verdict from a recovery and its findings (verdict.h).
#include "harness/oracle/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace headcrash::oracle {

std::string_view name(Verdict verdict) {
  constexpr std::array<std::string_view, 16> kNames{"clean",
                                                    "replayed",
                                                    "repaired-by-fsck",
                                                    "stale-data",
                                                    "non-atomic-rename",
                                                    "resurrected",
                                                    "zero-length",
                                                    "wrong-data",
                                                    "lost-synced-data",
                                                    "not-repairable",
                                                    "unmountable",
                                                    "recovery-not-idempotent",
                                                    "hang",
                                                    "oops",
                                                    "workload-failed",
                                                    "harness-error"};
  return kNames.at(static_cast<std::size_t>(verdict));
}

Verdict verdict_named(std::string_view name) {
  for (int i = 0; i < static_cast<int>(Verdict::harness_error); ++i)
    if (oracle::name(static_cast<Verdict>(i)) == name) return static_cast<Verdict>(i);
  return Verdict::harness_error;
}

bool keeps_promises(Verdict verdict) {
  return verdict == Verdict::clean || verdict == Verdict::replayed;
}

std::string_view name(Tier tier) {
  constexpr std::array<std::string_view, 4> kNames{"posix", "documented", "de-facto", "integrity"};
  return kNames.at(static_cast<std::size_t>(tier));
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
