#pragma once
// The directory operation log: a record of each name change, written in a region before the inodes
// and directory blocks that the change affects.
//
// A record describes the state after the change, so it can be applied repeatedly. It contains the
// inode to which the name now refers, or the fact that the name was removed, and the resulting link
// counts of the directory and the inode. Records of one operation (a rename) are consecutive, and
// all but the last have `more_follows`. The records of one operation may span several regions;
// recovery applies all of them or none.
//
// Source: Rosenblum 1992, section 4.5.1.2: opcode, location in the directory, and a copy of the
// entry. We add counts and generations, the attributes of a created inode (from which a lost inode
// is recreated), and a symbolic link's target.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fs-adapters/lfs/format.h"

namespace headcrash::lfs {

enum class NameOperation : std::uint8_t {
  create = 1,     ///< a new inode
  link,           ///< an additional name of an existing inode
  unlink,         ///< the name is removed
  rename_add,     ///< the new name of a renamed inode; a rename_remove follows
  rename_remove,  ///< the old name of a renamed inode is removed
  links           ///< only a link count changes; the record has no name
};

struct NameRecord {
  NameOperation operation = NameOperation::create;
  bool more_follows = false;  ///< the next record belongs to the same operation
  InodeNumber directory = 0;
  std::uint32_t directory_generation = 0;
  std::uint16_t directory_links = 0;  ///< the directory's link count after the operation
  std::uint32_t block = 0;            ///< directory block that received the entry
  InodeNumber target = 0;
  std::uint32_t target_generation = 0;
  /// The target's link count after the operation; 0 if the inode is removed.
  std::uint16_t target_links = 0;
  std::string name;  ///< 1 to 255 bytes; empty for NameOperation::links
  // For created inodes.
  std::uint16_t mode = 0;
  std::uint32_t user = 0, group = 0;
  tree::Timestamp time = {};
  std::string symlink_target;
  bool operator==(const NameRecord&) const = default;

  bool removes_name() const {
    return operation == NameOperation::unlink || operation == NameOperation::rename_remove;
  }
};

/// Appends the encoding, a multiple of 4 bytes, to `into`.
void append(const NameRecord& record, std::vector<std::byte>& into);
std::size_t encoded_bytes(const NameRecord& record);
/// Decodes the records in one log block, up to the zeroes after the last record. Returns nullopt if
/// a record is invalid.
std::optional<std::vector<NameRecord>> decode_directory_log(std::span<const std::byte> bytes);

}  // namespace headcrash::lfs
