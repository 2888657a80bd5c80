// Classifies the contents of ranges, and finds unexpected results of a cell (io_errors_verdict.h).
#include "harness/campaign/surveys/io_errors_verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "harness/workload/stamp.h"
#include "plugin/base/names.h"

namespace headcrash::campaign {
namespace {

using oracle::ContentRun;
using oracle::ObservedObject;

/// Numbers of blocks in the range, by content.
struct Counts {
  std::uint64_t fresh = 0, old = 0, zero = 0, foreign = 0;
};

void count_run(const ContentRun& run, const WrittenRange& range, Counts& counts) {
  const std::uint64_t first = std::max(run.first_block, range.first_block);
  const std::uint64_t end =
      std::min(run.first_block + run.blocks, range.first_block + range.blocks);
  if (first >= end) return;
  const std::uint64_t blocks = end - first;
  const bool stamped = run.kind == ContentRun::Kind::stamp && run.file == range.file;
  if (stamped && run.version == range.new_version) {
    counts.fresh += blocks;
  } else if (stamped && range.old_version && run.version == *range.old_version) {
    counts.old += blocks;
  } else if (run.kind == ContentRun::Kind::zero) {
    counts.zero += blocks;
  } else {
    counts.foreign += blocks;
  }
}

bool claims_success(std::initializer_list<int> answers) {
  return std::ranges::find(answers, 0) != answers.end();
}
bool says_error(std::initializer_list<int> answers) {
  return std::ranges::any_of(answers, [](int answer) { return answer > 0; });
}
bool lost(RangeContent content) {
  return content != RangeContent::fresh && content != RangeContent::unseen;
}

/// Judges a write that follows the failed write. `fsync` is the result of the only later fsync: 0
/// or an errno.
void judge_synced(std::string_view what, int fsync, RangeContent content,
                  std::vector<std::string>& said) {
  if (fsync == 0 && lost(content))
    said.push_back(
        fmt::format("fsync of {} succeeded, but its write is lost: {}", what, name(content)));
}

void judge_failed_write(const IoErrorOutcome& o, std::vector<std::string>& said) {
  const bool is_lost = lost(o.recovered);
  const bool later_success = claims_success({o.second_fsync, o.reopened_fsync, o.fsync_after_sync});
  if (is_lost && o.first_fsync == 0) {
    const bool reported = says_error({o.second_fsync, o.reopened_fsync, o.fsync_after_sync});
    said.push_back(fmt::format("the first fsync succeeded{}, but the write is lost: {}",
                               reported ? ", a later one failed" : ", no later one failed",
                               name(o.recovered)));
  } else if (is_lost && later_success) {
    said.push_back(fmt::format("fsync failed once and then succeeded, but the write is lost: {}",
                               name(o.recovered)));
  } else if (is_lost && o.recovered != RangeContent::old) {
    said.push_back(fmt::format(
        "fsync failed, and the range has neither the old nor the new data: {}", name(o.recovered)));
  }
  if (!is_lost && o.recovered == RangeContent::fresh && o.first_fsync > 0)
    said.emplace_back("fsync failed, but the write survived");
  if (is_lost && o.cached == RangeContent::fresh)
    said.emplace_back(o.reread == RangeContent::fresh || o.reread == RangeContent::unseen
                          ? "the mounted file showed data that did not survive"
                          : "the page cache showed data that was not on the disk");
}

}  // namespace

std::string_view name(RangeContent content) {
  static constexpr auto kNames = base::names<RangeContent>(
      {"-", "new", "old", "torn", "zero", "foreign", "missing", "unreadable"});
  return kNames[content];
}

std::string_view name(MountState state) {
  static constexpr auto kNames =
      base::names<MountState>({"-", "read-write", "read-only", "shut down", "hung", "died"});
  return kNames[state];
}

std::string_view name(AfterRecovery state) {
  static constexpr auto kNames = base::names<AfterRecovery>(
      {"", "clean", "damage", "damage repaired", "damage not repaired", "mount refused"});
  return kNames[state];
}

std::string IoErrorOutcome::after_recovery_text() const {
  const std::string text(name(after_recovery));
  return after_recovery == AfterRecovery::mount_refused ? text + ": " + refusal : text;
}

std::string answer_name(int answer) {
  if (answer == kNotReached) return "-";
  if (answer == kHung) return "hang";
  if (answer == 0) return "ok";
  const char* known = ::strerrorname_np(answer);
  return known != nullptr ? known : fmt::format("errno {}", answer);
}

RangeContent content_of(std::span<const ObservedObject> tree, const WrittenRange& range) {
  const auto object = std::ranges::find(tree, range.path, &ObservedObject::path);
  const bool was_there = range.old_version || range.first_block > 0;
  if (object == tree.end()) return was_there ? RangeContent::missing : RangeContent::old;
  if (object->error != 0) return RangeContent::unreadable;
  Counts counts;
  for (const ContentRun& run : object->runs) count_run(run, range, counts);
  if (counts.foreign > 0) return RangeContent::foreign;
  if (counts.zero > 0) return RangeContent::zero;
  if (counts.fresh == range.blocks) return RangeContent::fresh;
  if (range.old_version ? counts.old == range.blocks : counts.fresh == 0) return RangeContent::old;
  return RangeContent::torn;
}

std::vector<std::string> surprises_of(const IoErrorOutcome& o) {
  std::vector<std::string> said;
  if (o.rest != RangeContent::fresh && o.rest != RangeContent::unseen)
    said.push_back(fmt::format("data synced before the failure is lost: {}", name(o.rest)));
  judge_failed_write(o, said);
  judge_synced("the same file after a later write", o.later_fsync, o.later, said);
  judge_synced("another file", o.other_fsync, o.other, said);
  judge_synced("a new file", o.new_file_fsync, o.new_file, said);
  if (o.after_recovery != AfterRecovery::unknown && o.after_recovery != AfterRecovery::clean)
    said.push_back("after recovery: " + o.after_recovery_text());
  if (o.state == MountState::hung) said.emplace_back("an operation never returned");
  if (o.state == MountState::died) said.emplace_back("the kernel died");
  if (o.control) {
    const bool quiet =
        !says_error({o.first_fsync, o.second_fsync, o.reopened_fsync, o.fsync_after_sync, o.syncfs,
                     o.later_write, o.later_fsync, o.other_fsync, o.new_file_fsync}) &&
        o.recovered == RangeContent::fresh && o.first_fsync == 0;
    if (!quiet) said.emplace_back("an error occurred although no fault was injected");
  }
  return said;
}

}  // namespace headcrash::campaign
