#pragma once
// Operations on directories, block by block: finding a name, finding space for a new name, and
// changing entries. directory_block.h implements the format of a block. Unused parts of a directory
// are empty chunks. A directory never shrinks.
//
// All functions require the directory's lock. A search reads the entries linearly, as systems of
// the time did, and charges the processor for each.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fs-adapters/substrate/os/buffer_cache.h"
#include "fs-adapters/substrate/tree/directory_block.h"
#include "fs-adapters/substrate/tree/inode_store.h"

namespace headcrash::tree {

struct FoundName {
  InodeNumber inode = 0;
  std::int64_t block = 0;
  std::uint32_t offset = 0;
};

/// Returns nullopt if there is no such name.
VfsResult<std::optional<FoundName>> find_name(InodeStore& store, CoreInode& directory,
                                              std::string_view name);

/// Returns the number of a block that has room for the name. May grow the directory. REQUIRES:
/// find_name() has not found the name, and the directory has not changed since.
VfsResult<std::int64_t> make_room(InodeStore& store, Operation& operation, CoreInode& directory,
                                  std::string_view name);

/// A name to be added to a block found by make_room(). The target's link count must already have
/// been raised. add_name() also notifies the store.
struct NewName {
  std::string_view name;
  std::int64_t block = 0;
  NameCause cause = NameCause::create;
  bool raises_directory = false;
  bool others_follow = false;
};
VfsResult<void> add_name(InodeStore& store, Operation& operation, CoreInode& directory,
                         CoreInode& target, const NewName& added);
/// A name that will refer to another inode; the change also drops the name's old link. The new
/// target's link count must already have been raised.
struct ChangedName {
  std::string_view name;
  FoundName at;
  NameCause cause = NameCause::rename;
  DroppedLink replaced;
  bool raises_directory = false;
};
VfsResult<void> replace_name(InodeStore& store, Operation& operation, CoreInode& directory,
                             CoreInode& target, const ChangedName& changed);
struct RemovedName {
  std::string_view name;
  FoundName at;
  NameCause cause = NameCause::unlink;
  DroppedLink dropped;
};
VfsResult<void> remove_name(InodeStore& store, Operation& operation, CoreInode& directory,
                            const RemovedName& removed);

/// Returns the link to drop when a file's name is removed, or when a directory is removed from its
/// parent.
DroppedLink dropped_from(CoreInode& parent, CoreInode& inode);

/// Must be called after each change to a directory's entries or length. Updates the directory's
/// times and invalidates the results of earlier searches.
void touch_directory(InodeStore& store, CoreInode& directory);

VfsResult<bool> is_empty(InodeStore& store, CoreInode& directory);

struct ListedName {
  std::string name;
  InodeNumber inode = 0;
  std::uint8_t type = 0;
};
/// Lists all names except "." and "..".
VfsResult<std::vector<ListedName>> list_names(InodeStore& store, CoreInode& directory);

}  // namespace headcrash::tree
