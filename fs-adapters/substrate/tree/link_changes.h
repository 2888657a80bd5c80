#pragma once
// Changes of names in a directory block, as reported to the file system below
// (InodeStore::link_added, link_removed).
//
//   operation        calls, in this order
//   create, symlink  link_added (create)
//   mkdir            link_added (create) with `raises_directory`
//   link             link_added (link)
//   unlink, rmdir    link_removed (unlink)
//   rename           link_added (rename) with `others_follow`, and `replaced` if the name existed;
//                    link_added (parent) for the ".." of a directory with a new parent;
//                    link_removed (rename)
//   exchange         link_added (exchange) of a third name;
//                    link_added (exchange) with `replaced`, twice;
//                    link_added (parent) for each changed "..";
//                    link_removed (exchange) of the third name
//
// Before each call, the link count of the target, and of its parent if that rises, has been raised
// in core and reported to mark_changed(). The directory has grown if necessary.

#include <cstdint>
#include <string_view>
#include <vector>

#include "fs-adapters/substrate/tree/core_inode.h"

namespace headcrash::tree {

/// The operation that a name change is part of; used by logs of operations.
enum class NameCause : std::uint8_t {
  create,
  link,
  unlink,
  rename,
  exchange,
  parent,  ///< the ".." of a moved directory, which is not logged
};

/// An entry moved within its chunk to make room for another. Dependencies must be updated.
struct MovedEntry {
  std::uint32_t from = 0, to = 0;  ///< offsets in bytes from the block's start
  bool operator==(const MovedEntry&) const = default;
};

/// A link to be dropped once its entry is gone from the disk. As in fsck, a directory counts for
/// the parent that contains its name, not for the one that its ".." refers to: while it moves, the
/// two are written in any order.
struct DroppedLink {
  CoreInode* inode = nullptr;  ///< null if none
  /// For a directory: the parent that contained this name and counted it.
  CoreInode* parent = nullptr;
  /// 2 if a directory and its "." are removed; 0 if the entry was a "..", which drops nothing.
  std::uint16_t links = 1;
  bool moved =
      false;  ///< the inode has another name, added before, which must be on the disk first
};

/// The entry `name` at `offset` of block `block` of the directory now refers to `target`, whose
/// link count has been raised.
struct LinkAddition {
  CoreInode& directory;
  std::int64_t block = 0;
  std::uint32_t offset = 0;
  std::string_view name;
  CoreInode& target;
  NameCause cause = NameCause::create;
  bool raises_directory =
      false;  ///< the directory's own count has risen, because the target is a directory
  bool others_follow = false;          ///< a later change must not reach the disk before this one
  DroppedLink replaced = {};           ///< the entry's previous link
  std::vector<MovedEntry> moved = {};  ///< other entries of the chunk that were moved to make room
};

/// The entry `name` at `offset` (before its space was merged) has been removed.
struct LinkRemoval {
  CoreInode& directory;
  std::int64_t block = 0;
  std::uint32_t offset = 0;
  std::string_view name;
  NameCause cause = NameCause::unlink;
  DroppedLink dropped;
};

}  // namespace headcrash::tree
