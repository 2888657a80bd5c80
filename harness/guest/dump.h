#pragma once
// Dumps a file system's contents as events of the `dump` command (PROTOCOL.md).
//
// The tree is traversed depth-first, with the names in each folder in byte order, so two dumps of
// one tree are equal. A damaged file system may show cyclic folders, files of absurd size or
// unreadable objects. Each is reported as far as possible, with its `errno`, and the traversal is
// bounded.

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>

#include "fs-adapters/vfs.h"
#include "harness/workload/attribute_value.h"

namespace headcrash::guest {

struct DumpLimits {
  std::uint64_t entries = 1'000'000;  ///< maximum number of objects in total; EOVERFLOW if exceeded
  std::size_t path_bytes = 4096;      ///< folders with longer paths are reported but not entered
  std::size_t runs = 8192;  ///< maximum number per file, so that a message stays below 1 MiB
  std::uint64_t file_bytes = 1ULL << 30;  ///< maximum number of bytes read per file
  std::size_t attributes = workload::kReportedAttributesMost;  ///< maximum number per object
  /// Maximum total size of names and values, as encoded in a message.
  std::size_t attribute_bytes = workload::kReportedAttributeBytesMost;
};

using EntrySink = std::function<void(const nlohmann::json& entry)>;

/// Passes every object except the root to `sink`, and returns the number of objects. Fails only if
/// the root cannot be listed or the tree has too many objects.
VfsResult<std::uint64_t> dump_tree(Vfs& vfs, const EntrySink& sink, const DumpLimits& limits = {});

}  // namespace headcrash::guest
