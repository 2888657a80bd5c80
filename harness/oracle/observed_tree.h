#pragma once
// The tree found after recovery, as reported by the agent's dump (harness/guest/PROTOCOL.md,
// `dump`).

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fs-adapters/vfs.h"
#include "harness/workload/stamp.h"
#include "plugin/base/result.h"

namespace headcrash::oracle {

/// Adjacent 512-byte blocks of the same kind.
struct ContentRun {
  enum class Kind : std::uint8_t {
    stamp,
    moved,
    zero,
    foreign,
    before_mkfs,  ///< the disk's contents before mkfs (stamp.h); adjacent blocks form one run
  };
  Kind kind = Kind::zero;
  std::uint64_t first_block = 0;
  std::uint64_t blocks = 0;
  std::uint32_t file = 0, version = 0;  ///< for stamp and moved: values in the stamp
  std::uint64_t stamped_block = 0;      ///< for moved: the block number in the stamp
  std::vector<std::byte> head;          ///< for foreign: the run's first bytes, at most 32
  /// For foreign: workload::block_digest() of each block in the run; 0 if an older agent omitted
  /// it.
  std::uint64_t digest = 0;
  bool operator==(const ContentRun&) const = default;
};

/// Returns the run for one block of a file, from its contents as recognised by
/// workload::read_stamp(). `number` is the block's position in the file.
ContentRun run_of(const workload::BlockContent& content, std::span<const std::byte> block,
                  std::uint64_t number);

struct ObservedObject {
  std::string path;
  FileType type = FileType::regular;
  std::uint64_t inode = 0;
  std::uint32_t links = 0;
  std::uint64_t size_bytes = 0;
  int error = 0;     ///< errno from reading the object; 0 on success
  bool cut = false;  ///< truncated by the agent's limits, not by the file system
  std::vector<ContentRun> runs;
  std::string link_target;  ///< a symbolic link's target
  /// Keyed by name; values as returned by workload::reported_attribute_value().
  std::map<std::string, std::string> attributes;
  bool attributes_cut = false;  ///< the agent omitted further attributes
  // Fields that are nullopt if they were not observed, because the dump is from an older agent or
  // the value was not requested. Such fields are not judged.
  std::optional<std::uint32_t> mode = {};  ///< permission bits
  std::optional<std::uint32_t> user = {}, group = {};
  std::optional<std::uint64_t> allocated_bytes = {};
  std::optional<std::uint32_t> flags = {}, project = {};
  std::optional<std::int64_t> modified_seconds = {};  ///< since the epoch
  std::optional<std::int64_t> accessed_seconds = {}, born_seconds = {};
  bool operator==(const ObservedObject&) const = default;
};

/// Returns the first object that differs, and how; empty if the trees are equal. Inode numbers are
/// compared only by which objects share them, since a file system without inodes renumbers files at
/// each mount. Trees must be sorted by path.
std::string tree_difference(const std::vector<ObservedObject>& one,
                            const std::vector<ObservedObject>& other);

/// Parses one `entry` event. Errors name the invalid field.
Result<ObservedObject> parse_entry(const nlohmann::json& entry);

}  // namespace headcrash::oracle
