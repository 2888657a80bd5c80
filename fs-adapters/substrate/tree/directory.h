#pragma once
// Directories as files: looking for a name block by block, finding room for one, changing entries
// (the blocks
// themselves: directory_block.h). What is not in use of a directory are empty chunks. It never
// becomes shorter.
//
// All functions are called with the directory's lock held. Names are found by looking at every
// entry, as the systems of the time did; the processor is charged for each.

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

/// Nothing: no such name.
VfsResult<std::optional<FoundName>> find_name(InodeStore& store, CoreInode& directory,
                                              std::string_view name);

/// Makes sure that some block has room for the name: its number. The directory may grow.
VfsResult<std::int64_t> make_room(InodeStore& store, Operation& operation, CoreInode& directory,
                                  std::string_view name);

/// Puts the name into a block that make_room() found, and tells the store. The target's count is
/// raised.
struct NewName {
  std::string_view name;
  std::int64_t block = 0;
  NameCause cause = NameCause::create;
  bool raises_directory = false;
  bool others_follow = false;
};
VfsResult<void> add_name(InodeStore& store, Operation& operation, CoreInode& directory,
                         CoreInode& target, const NewName& added);
/// Lets a name lead elsewhere; what it was is dropped. The new target's count is raised.
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

/// Of a file's name that goes, or of a directory that goes, from its parent.
DroppedLink dropped_from(CoreInode& parent, CoreInode& inode);

/// With each change of a directory's entries or length: its times, and what was seen of it is void.
void touch_directory(InodeStore& store, CoreInode& directory);

VfsResult<bool> is_empty(InodeStore& store, CoreInode& directory);

struct ListedName {
  std::string name;
  InodeNumber inode = 0;
  std::uint8_t type = 0;
};
/// Without "." and "..".
VfsResult<std::vector<ListedName>> list_names(InodeStore& store, CoreInode& directory);

}  // namespace headcrash::tree
