#pragma once
// Rounds of a few operations each, made for what a journaling kernel can get wrong between two
// commits: a small mistake there shows in few states, and in these lists in many.
//
//   fsync-after-names      an old file gets a link or another name and is synced: did fsync notice?
//   truncate-in-block      shorter within a block and longer again: the part between must be zeroes
//   freed-blocks-reused    blocks of a removed file hold others' data before the removal is committed
//   unsynced-neighbours    files committed with another's fsync: their data must be on the disk first
//   revoked-blocks         a journaled metadata block is freed and holds synced data: replay must not touch it
//   wrap-journal           commits of many blocks around a small journal, each checkpointed by a later one
//   allocated-extents      preallocated space is written, punched, zeroed and synced, in part
//   dropped-links          names of one file come and go in several directories, some while it is open

#include <optional>
#include <string_view>
#include <vector>

#include "harness/workload/patterns.h"

namespace headcrash::workload {

const std::vector<Pattern>& commit_patterns();

/// As pattern().
std::optional<std::vector<Operation>> commit_pattern(std::string_view name,
                                                     const PatternOptions& options);

}  // namespace headcrash::workload
