#pragma once
// What a file system holds, as events of the `dump` command (PROTOCOL.md).
//
// The tree is walked depth-first with the names of a folder in byte order, so that two dumps of one
// tree are the same text. A damaged file system may show folders that contain themselves, files of
// absurd size or unreadable objects: each is reported with what can be said and its `errno`, and
// the walk is bounded.

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>

#include "fs-adapters/vfs.h"
#include "harness/workload/attribute_value.h"

namespace headcrash::guest {

struct DumpLimits {
  std::uint64_t entries = 1'000'000;      ///< of the whole tree: EOVERFLOW beyond
  std::size_t path_bytes = 4096;          ///< deeper folders are reported but not entered
  std::size_t runs = 8192;                ///< of one file: a message stays below 1 MiB
  std::uint64_t file_bytes = 1ULL << 30;  ///< of one file
  std::size_t attributes = workload::kReportedAttributesMost;  ///< of one object
  /// Of their names and values, as a message has them.
  std::size_t attribute_bytes = workload::kReportedAttributeBytesMost;
};

using EntrySink = std::function<void(const nlohmann::json& entry)>;

/// Hands every object but the root to `sink`; returns how many. Fails only when the root cannot be
/// listed or the tree has no end.
VfsResult<std::uint64_t> dump_tree(Vfs& vfs, const EntrySink& sink, const DumpLimits& limits = {});

}  // namespace headcrash::guest
