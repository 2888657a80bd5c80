#pragma once
// What happens to the names in a directory's block, as it is told to the file system beneath
// (InodeStore::link_added, link_removed).
//
//   operation        calls, in this order
//   create, symlink  link_added (create)
//   mkdir            link_added (create) with `raises_directory`
//   link             link_added (link)
//   unlink, rmdir    link_removed (unlink)
//   rename           link_added (rename) with `others_follow`, and `replaced` where the new name was taken;
//                    [a directory to another parent: link_added (parent) for its ".."];
//                    link_removed (rename)
//   exchange         link_added (exchange) of a third name; link_added (exchange) with `replaced`, twice;
//                    [link_added (parent) for each ".."]; link_removed (exchange) of the third name
//
// Each is preceded by what it takes: the target's count, and its parent's if that rises, have been
// raised in core and told to mark_changed(); the directory has grown if it had to.

#include <cstdint>
#include <string_view>
#include <vector>

#include "fs-adapters/substrate/tree/core_inode.h"

namespace headcrash::tree {

/// Which operation a change of a name is part of: for who keeps a log of operations.
enum class NameCause : std::uint8_t {
  create,
  link,
  unlink,
  rename,
  exchange,
  parent,  ///< the ".." of a directory that moves: no name of its own, and nothing to be logged
};

/// An entry that another one's arrival has moved inside its chunk: an update scheme's notes must
/// follow.
struct MovedEntry {
  std::uint32_t from = 0, to = 0;  ///< offsets in bytes from the block's start
  bool operator==(const MovedEntry&) const = default;
};

/// A link that is to be dropped once its entry is gone from the disk. A directory counts for the
/// parent in which it has its name, as fsck counts, and not for the one that its ".." names: while
/// it moves, the two are written in any order.
struct DroppedLink {
  CoreInode* inode = nullptr;  ///< null: none is dropped
  /// Of a directory: in which it had this name and counted.
  CoreInode* parent = nullptr;
  /// 2: a directory goes, and its "." with it. 0: the entry was a "..", and nothing goes with it.
  std::uint16_t links = 1;
  bool moved =
      false;  ///< it has another name, which was added before and must be first on the disk
};

/// The entry `name` at `offset` of the directory's block `block` names `target`, whose count has
/// been raised.
struct LinkAddition {
  CoreInode& directory;
  std::int64_t block = 0;
  std::uint32_t offset = 0;
  std::string_view name;
  CoreInode& target;
  NameCause cause = NameCause::create;
  bool raises_directory =
      false;  ///< the directory's own count has risen: the target is one that counts
  bool others_follow = false;  ///< something that comes next must not reach the disk before this
  DroppedLink replaced = {};   ///< what the entry named before
  std::vector<MovedEntry> moved = {};  ///< others in its chunk that made room for it
};

/// The entry `name` at `offset` (before its space was merged) is gone.
struct LinkRemoval {
  CoreInode& directory;
  std::int64_t block = 0;
  std::uint32_t offset = 0;
  std::string_view name;
  NameCause cause = NameCause::unlink;
  DroppedLink dropped;
};

}  // namespace headcrash::tree
