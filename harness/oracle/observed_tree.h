#pragma once
// The tree that is found after recovery, as the agent's dump reports it (harness/guest/PROTOCOL.md,
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

/// A series of adjacent 512-byte blocks of the same kind.
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
  /// For stamp and moved: file number and version in the stamp.
  std::uint32_t file = 0, version = 0;
  std::uint64_t stamped_block = 0;  ///< for moved: the block number in the stamp
  std::vector<std::byte> head;      ///< for foreign: the first bytes of the run, at most 32
  /// For foreign: the workload::block_digest() of each block in the run. 0 if an older agent has
  /// not sent it.
  std::uint64_t digest = 0;
  bool operator==(const ContentRun&) const = default;
};

/// Returns a run that consists of one block of a file. `content` is the result of
/// workload::read_stamp(), and `number` is the block's position in the file.
ContentRun run_of(const workload::BlockContent& content, std::span<const std::byte> block,
                  std::uint64_t number);

struct ObservedObject {
  std::string path;
  FileType type = FileType::regular;
  std::uint64_t inode = 0;
  std::uint32_t links = 0;
  std::uint64_t size_bytes = 0;
  int error = 0;     ///< errno of the attempt to read the object; 0 on success
  bool cut = false;  ///< incomplete because of the agent's limits, not because of the file system
  std::vector<ContentRun> runs;
  std::string link_target;
  /// Keyed by name. The values are those of workload::reported_attribute_value().
  std::map<std::string, std::string> attributes;
  bool attributes_cut = false;  ///< there were more attributes than the agent reports
  // A field is nullopt, and is not judged, if its value was not requested or the agent is too old
  // to report it.
  std::optional<std::uint32_t> mode = {};  ///< permission bits
  std::optional<std::uint32_t> user = {}, group = {};
  std::optional<std::uint64_t> allocated_bytes = {};
  std::optional<std::uint32_t> flags = {}, project = {};
  std::optional<std::int64_t> modified_seconds = {};  ///< in seconds since the epoch
  std::optional<std::int64_t> accessed_seconds = {}, born_seconds = {};
  /// Time of the last change of the inode, in microseconds since the epoch. tree_difference()
  /// ignores it, because a recovery may change the inode.
  std::optional<std::int64_t> changed_us = {};
  bool operator==(const ObservedObject&) const = default;
};

/// Describes the first object that differs, or returns an empty string if the trees are equal. Both
/// trees must be sorted by path. For inode numbers, compares only which objects share one, because
/// a file system without inodes assigns new numbers at each mount.
std::string tree_difference(const std::vector<ObservedObject>& one,
                            const std::vector<ObservedObject>& other);

/// Parses an event `entry` of a dump. Errors name the invalid field.
Result<ObservedObject> parse_entry(const nlohmann::json& entry);

}  // namespace headcrash::oracle
