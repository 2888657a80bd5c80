#pragma once
// Dumps the contents of a file system, as events of the `dump` command (PROTOCOL.md).
//
// The tree is traversed depth-first, and the names in each directory are in byte order, so two
// dumps of the same tree are equal. A damaged file system may show cyclic directories, files of
// absurd size or unreadable objects. Each object is reported as far as possible, with its `errno`,
// and the traversal is bounded.

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>

#include "fs-adapters/vfs.h"
#include "harness/workload/attribute_value.h"

namespace headcrash::guest {

struct DumpLimits {
  /// Maximum total number of objects; if there are more, the dump fails with EOVERFLOW.
  std::uint64_t entries = 1'000'000;
  /// Maximum length of the path of a directory that is listed. A directory with a longer path is
  /// reported without its contents.
  std::size_t path_bytes = 4096;
  /// Maximum number of runs listed for each file. The limit keeps a message below 1 MiB.
  std::size_t runs = 8192;
  std::uint64_t file_bytes = 1ULL << 30;  ///< maximum number of bytes to read from each file
  /// Maximum number of attributes of each object.
  std::size_t attributes = workload::kReportedAttributesMost;
  /// Maximum total size of the names and values of attributes, in the encoding of a message.
  std::size_t attribute_bytes = workload::kReportedAttributeBytesMost;
};

using EntrySink = std::function<void(const nlohmann::json& entry)>;

/// Passes every object except the root to `sink`, and returns the number of objects. Fails only if
/// the root cannot be listed, or if the tree has too many objects.
VfsResult<std::uint64_t> dump_tree(Vfs& vfs, const EntrySink& sink, const DumpLimits& limits = {});

}  // namespace headcrash::guest
