// Handles operations that move or share ranges of files: collapse, insert, clone and dedupe
// (follower.h).
#include <fmt/format.h>

#include <algorithm>

#include "harness/oracle/follower.h"
#include "harness/workload/stamp.h"

namespace headcrash::oracle {
namespace {

using workload::kStampBytes;
using workload::Operation;
using Kind = Operation::Kind;

std::uint64_t blocks_of(std::uint64_t bytes) {
  return (bytes + kStampBytes - 1) / kStampBytes;
}

}  // namespace

/// Records writes of the stretches' contents, `blocks_further` blocks after their old positions
/// (negative: before them). `moved` becomes BlockEvent::moved.
void Follower::put(ObjectHistory& file, std::span<const Stretch> stretches,
                   std::int64_t blocks_further, bool moved) {
  for (const Stretch& each : stretches) {
    const auto there = [&](std::uint64_t block) {
      return static_cast<std::uint64_t>(static_cast<std::int64_t>(block) + blocks_further);
    };
    BlockEvent event{index_, BlockEvent::Kind::zero, there(each.first), there(each.end)};
    event.moved = moved;
    if (!each.held.zero) {
      event.kind = BlockEvent::Kind::stamp;
      event.version = each.held.version;
      event.bytes = each.held.bytes;
      event.file = each.held.file;
      event.hole = each.held.hole;
      event.mixed = each.held.mixed;
      event.displacement = each.held.displacement - blocks_further;
    }
    file.blocks.push_back(event);
  }
}

Result<void> Follower::move_blocks(const Operation& operation) {
  const auto token = find_file(operation.path);
  if (!token) return wrong(fmt::format("there is no file \"{}\"", operation.path));
  ObjectHistory& file = object(*token);
  const std::uint64_t was = size(file);
  const bool collapses = operation.kind == Kind::collapse;
  const std::uint64_t end = operation.offset + operation.length;
  if (file.unclear) return {};
  if (collapses ? end >= was : operation.offset >= was)
    return wrong(fmt::format("the file has {} bytes; the range must {} before the end of the file",
                             was, collapses ? "end" : "begin"));
  const std::uint64_t first = operation.offset / kStampBytes,
                      blocks = operation.length / kStampBytes;
  const auto distance = static_cast<std::int64_t>(blocks);
  if (collapses) {
    put(file, content_now(file, first + blocks, blocks_of(was)), -distance, true);
    file.blocks.push_back({index_, BlockEvent::Kind::zero, blocks_of(was) - blocks, kEndless});
    resize(file, was - operation.length);
  } else {
    put(file, content_now(file, first, blocks_of(was)), distance, true);
    file.blocks.push_back({index_, BlockEvent::Kind::zero, first, first + blocks});
    resize(file, was + operation.length);
  }
  file.moves.push_back({index_, first, blocks, !collapses});
  modified(file);
  return {};
}

/// Handles clone and dedupe. dedupe does not change the contents of a file.
Result<void> Follower::share(const Operation& operation) {
  const auto from = find_file(operation.path), to = find_file(operation.target);
  if (!from) return wrong(fmt::format("there is no file \"{}\"", operation.path));
  if (!to) return wrong(fmt::format("there is no file \"{}\"", operation.target));
  accessed(object(*from));
  accessed(object(*to));
  if (operation.kind == Kind::dedupe) return {};
  ObjectHistory& source = object(*from);
  ObjectHistory& file = object(*to);
  file.unclear |= source.unclear;
  if (file.unclear) return {};
  if (operation.offset + operation.length > size(source))
    return wrong(fmt::format("the range extends beyond the end of \"{}\" ({} bytes)",
                             operation.path, size(source)));
  const std::uint64_t first = operation.offset / kStampBytes,
                      blocks = operation.length / kStampBytes;
  const auto distance = static_cast<std::int64_t>(operation.target_offset / kStampBytes) -
                        static_cast<std::int64_t>(first);
  const std::vector<Stretch> shared = content_now(source, first, first + blocks);
  for (const Stretch& each : shared)
    if (!each.held.zero) file.shared_files.insert(each.held.file);
  put(file, shared, distance, false);
  resize(file, std::max(size(file), operation.target_offset + operation.length));
  modified(file);
  return {};
}

}  // namespace headcrash::oracle
