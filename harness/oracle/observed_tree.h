#pragma once
// The tree that was found after recovery, as the agent's dump tells it (harness/guest/PROTOCOL.md,
// `dump`).

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "fs-adapters/vfs.h"
#include "plugin/base/result.h"

namespace headcrash::oracle {

/// Neighbouring 512-byte blocks of equal kind.
struct ContentRun {
  enum class Kind : std::uint8_t {
    stamp,
    moved,
    zero,
    foreign,
    before_mkfs,  ///< bytes that the disk was filled with before mkfs (stamp.h); neighbours join
  };
  Kind kind = Kind::zero;
  std::uint64_t first_block = 0;
  std::uint64_t blocks = 0;
  std::uint32_t file = 0, version = 0;  ///< stamp, moved
  std::uint64_t stamped_block = 0;      ///< moved: the block number in the stamp
  std::vector<std::byte> head;          ///< foreign: the first bytes, at most 32
  bool operator==(const ContentRun&) const = default;
};

struct ObservedObject {
  std::string path;
  FileType type = FileType::regular;
  std::uint64_t inode = 0;
  std::uint32_t links = 0;
  std::uint64_t size_bytes = 0;
  int error = 0;     ///< errno of reading it; 0 is fine
  bool cut = false;  ///< the agent's limits ended the description, not the file system
  std::vector<ContentRun> runs;
  std::string link_target;  ///< of a symbolic link
  std::map<std::string, std::string>
      attributes;               ///< values as workload::reported_attribute_value()
  bool attributes_cut = false;  ///< there are more, which the agent left out
  // Nothing: not observed, and not judged (an older agent's dump, or nobody asks).
  std::optional<std::uint32_t> mode = {};  ///< permission bits
  std::optional<std::uint32_t> user = {}, group = {};
  std::optional<std::uint64_t> allocated_bytes = {};
  std::optional<std::uint32_t> flags = {}, project = {};
  std::optional<std::int64_t> modified_seconds = {};  ///< since the epoch
  std::optional<std::int64_t> accessed_seconds = {}, born_seconds = {};
  bool operator==(const ObservedObject&) const = default;
};

/// The first object that differs, and in what; empty if none does. Numbers of inodes are compared
/// by which objects share them: a file system without inodes numbers files anew at each mount.
/// Trees are in order of their paths.
std::string tree_difference(const std::vector<ObservedObject>& one,
                            const std::vector<ObservedObject>& other);

/// One `entry` event. Errors name the field.
Result<ObservedObject> parse_entry(const nlohmann::json& entry);

}  // namespace headcrash::oracle
