// Generates the rounds, and finds which of their changes a tree still contains (unsynced_ages.h).
#include "harness/campaign/surveys/unsynced_ages.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/campaign/surveys/io_errors_verdict.h"
#include "harness/workload/draft.h"
#include "harness/workload/stamp.h"

namespace headcrash::campaign {
namespace {

using workload::Operation;
using OperationKind = Operation::Kind;
using workload::kStampBytes;

constexpr std::uint64_t kBlockBytes = 4096, kRecordBytes = 1024;
constexpr std::uint32_t kRoundsToARename = 3;
constexpr std::int64_t kRestSeconds = 1;
constexpr double kNsPerMs = 1e6;
constexpr const char *kLargeFile = "large", *kLog = "log";

std::string first_name(std::uint32_t round) {
  return fmt::format("f{}", round);
}
std::string second_name(std::uint32_t round) {
  return fmt::format("r{}", round);
}

bool is_there(std::span<const oracle::ObservedObject> tree, const std::string& path) {
  return std::ranges::find(tree, path, &oracle::ObservedObject::path) != tree.end();
}

bool holds(std::span<const oracle::ObservedObject> tree, const std::string& path,
           const Operation& write) {
  const WrittenRange range{.path = path,
                           .file = write.file,
                           .first_block = write.offset / kStampBytes,
                           .blocks = (write.length + kStampBytes - 1) / kStampBytes,
                           .old_version = {},
                           .new_version = write.version};
  return content_of(tree, range) == RangeContent::fresh;
}

/// Returns the name that a file gets when it is renamed, three rounds after its creation.
std::string other_name(const std::string& path) {
  return "r" + path.substr(1);
}

ChangeAge look(const Operation& operation, std::span<const oracle::ObservedObject> tree) {
  switch (operation.kind) {
    case OperationKind::create:
      return {
          .kind = "create",
          .lost = !is_there(tree, operation.path) && !is_there(tree, other_name(operation.path))};
    case OperationKind::rename:
      return {.kind = "rename", .lost = !is_there(tree, operation.target)};
    case OperationKind::append:
      return {.kind = "append",
              .lost = !holds(tree, operation.path, operation),
              .bytes = operation.length};
    default:
      break;
  }
  if (operation.path == kLargeFile)
    return {.kind = "overwrite",
            .lost = !holds(tree, operation.path, operation),
            .bytes = operation.length};
  return {.kind = "write",
          .lost = !holds(tree, operation.path, operation) &&
                  !holds(tree, other_name(operation.path), operation),
          .bytes = operation.length};
}

}  // namespace

UnsyncedWorkload unsynced_workload(std::uint32_t rounds) {
  workload::Draft draft;
  UnsyncedWorkload made;
  draft.add({.kind = OperationKind::create, .path = kLargeFile});
  draft.add({.kind = OperationKind::write, .path = kLargeFile, .length = rounds * kBlockBytes});
  draft.add({.kind = OperationKind::create, .path = kLog});
  draft.add({.kind = OperationKind::sync});
  made.set_up = draft.operations().size();
  for (std::uint32_t round = 0; round < rounds; ++round) {
    draft.add({.kind = OperationKind::create, .path = first_name(round)});
    draft.add({.kind = OperationKind::write, .path = first_name(round), .length = kBlockBytes});
    draft.add({.kind = OperationKind::append, .path = kLog, .length = kRecordBytes});
    draft.add({.kind = OperationKind::write,
               .path = kLargeFile,
               .offset = round * kBlockBytes,
               .length = kBlockBytes});
    if (round >= kRoundsToARename)
      draft.add({.kind = OperationKind::rename,
                 .path = first_name(round - kRoundsToARename),
                 .target = second_name(round - kRoundsToARename)});
    made.rests.push_back(draft.operations().size());
    draft.add({.kind = OperationKind::rest, .seconds = kRestSeconds});
  }
  made.operations = draft.take();
  return made;
}

std::vector<ChangeAge> change_ages(const UnsyncedWorkload& workload,
                                   std::span<const RestMark> marks, std::int64_t cut_at_ns,
                                   std::span<const oracle::ObservedObject> tree) {
  std::vector<ChangeAge> ages;
  std::size_t from = workload.set_up;
  for (const std::size_t rest : workload.rests) {
    const auto mark = std::ranges::find(marks, rest, &RestMark::operation);
    if (mark == marks.end()) break;
    const std::int64_t returned_at_ns = mark->at_ns - kRestSeconds * kNsPerSecond;
    for (std::size_t i = from; i < rest; ++i) {
      ChangeAge age = look(workload.operations[i], tree);
      age.operation = i;
      age.age_ms = static_cast<double>(cut_at_ns - returned_at_ns) / kNsPerMs;
      ages.push_back(age);
    }
    from = rest + 1;
  }
  return ages;
}

LossSummary summary_of(std::span<const ChangeAge> ages) {
  LossSummary summary;
  for (const ChangeAge& each : ages) {
    if (each.lost) {
      ++summary.lost;
      summary.lost_bytes += each.bytes;
      summary.oldest_lost_ms = std::max(summary.oldest_lost_ms, each.age_ms);
    } else {
      if (summary.kept++ == 0 || each.age_ms < summary.newest_kept_ms)
        summary.newest_kept_ms = each.age_ms;
    }
  }
  return summary;
}

}  // namespace headcrash::campaign
