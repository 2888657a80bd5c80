#pragma once
// The directory operation log: what each change of a name was, written in a region before what it
// describes.
//
// A record says how things stand after the change, so that it may be applied to what contains it
// already: which inode a name in a directory leads to, or that it is gone, and the link counts that
// the operation has left the two with. The records of one operation (a rename) follow one another,
// and all but the last say that more follow. They may be in several regions: recovery applies all
// of them or none.
//
// Source: Rosenblum 1992, section 4.5.1.2: opcode, location in the directory, and a copy of the
// entry. Ours are the counts and generations, the attributes of what was created (a lost inode is
// made again from them) and a symbolic link's target.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fs-adapters/lfs/format.h"

namespace headcrash::lfs {

enum class NameOperation : std::uint8_t {
  create = 1,     ///< the name leads to an inode that is new
  link,           ///< ... to one that has others
  unlink,         ///< the name is gone
  rename_add,     ///< as link, and rename_remove follows
  rename_remove,  ///< as unlink
  links           ///< no name: an inode's count alone
};

struct NameRecord {
  NameOperation operation = NameOperation::create;
  bool more_follows = false;  ///< the next record belongs to the same operation
  InodeNumber directory = 0;
  std::uint32_t directory_generation = 0;
  std::uint16_t directory_links = 0;  ///< afterwards
  std::uint32_t block = 0;            ///< of the directory, where the entry was put
  InodeNumber target = 0;
  std::uint32_t target_generation = 0;
  std::uint16_t target_links = 0;  ///< afterwards; 0: nothing is left of it
  std::string name;                ///< 1 to 255 bytes; none with `links`
  // Of what was created.
  std::uint16_t mode = 0;
  std::uint32_t user = 0, group = 0;
  tree::Timestamp time = {};
  std::string symlink_target;
  bool operator==(const NameRecord&) const = default;

  bool removes_name() const {
    return operation == NameOperation::unlink || operation == NameOperation::rename_remove;
  }
};

/// Bytes of one, a multiple of 4, at the end of `into`.
void append(const NameRecord& record, std::vector<std::byte>& into);
std::size_t encoded_bytes(const NameRecord& record);
/// Those of one block of the log, up to its zeroes; nothing: it makes no sense.
std::optional<std::vector<NameRecord>> decode_directory_log(std::span<const std::byte> bytes);

}  // namespace headcrash::lfs
