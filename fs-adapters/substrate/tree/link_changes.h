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
//   exchange         link_added (exchange) of a temporary name;
//                    link_added (exchange) with `replaced`, twice;
//                    link_added (parent) for each changed "..";
//                    link_removed (exchange) of the temporary name
//
// Before each call, the link count of the target, and of its parent if that count rises, has been
// raised in core and reported to mark_changed(). The directory has grown if necessary.

#include <cstdint>
#include <string_view>
#include <vector>

#include "fs-adapters/substrate/tree/core_inode.h"

namespace headcrash::tree {

/// The operation that changes a name. Directory operation logs record this value.
enum class NameCause : std::uint8_t {
  create,
  link,
  unlink,
  rename,
  exchange,
  parent,  ///< a change of a moved directory's ".."; not logged
};

/// An entry that was moved within its chunk to make room for another one. Dependencies that refer
/// to its offset must be updated.
struct MovedEntry {
  std::uint32_t from = 0, to = 0;  ///< offsets in bytes from the block's start
  bool operator==(const MovedEntry&) const = default;
};

/// A link that is dropped once the removal of its entry is on the disk. If the entry is a
/// directory's name, `parent` also loses a link. As in fsck, `parent` is the directory that
/// contained the name, and not the one to which ".." refers, because a move may write the name and
/// the ".." in either order.
struct DroppedLink {
  CoreInode* inode = nullptr;  ///< the inode that loses the link; null if no link is dropped
  /// The parent directory that loses a subdirectory; its link count includes that subdirectory.
  /// Null if the removed name is not the name of a directory.
  CoreInode* parent = nullptr;
  /// Number of links that `inode` loses: 2 for a removed directory, because its "." also counts; 0
  /// if `inode` keeps all its links.
  std::uint16_t links = 1;
  /// The inode has another, newer name. That name must be on the disk before the link is dropped.
  bool moved = false;
};

/// Reports that the entry `name` at `offset` of directory block `block` now refers to `target`. The
/// link count of `target` has already been raised.
struct LinkAddition {
  CoreInode& directory;
  std::int64_t block = 0;
  std::uint32_t offset = 0;
  std::string_view name;
  CoreInode& target;
  NameCause cause = NameCause::create;
  /// If true, the link count of `directory` itself has also been raised, because the target is a
  /// directory.
  bool raises_directory = false;
  /// If true, later changes of the same operation must not reach the disk before this one.
  bool others_follow = false;
  DroppedLink replaced = {};           ///< the link that the entry held before the change
  std::vector<MovedEntry> moved = {};  ///< other entries in the chunk that were moved to make room
};

/// Reports that the entry `name` has been removed. `offset` is the offset that the entry had before
/// its space was merged into another entry.
struct LinkRemoval {
  CoreInode& directory;
  std::int64_t block = 0;
  std::uint32_t offset = 0;
  std::string_view name;
  NameCause cause = NameCause::unlink;
  DroppedLink dropped;
};

}  // namespace headcrash::tree
