#pragma once
// Directories as files: looking for a name block by block, finding room for one, growing (the blocks
// themselves: directory_block.h). A directory is as long as the fragments it has: what is not in use are
// empty chunks. It never becomes shorter.
//
// All functions are called with the directory's lock held. Names are found by looking at every entry, as the
// systems of the time did; the processor is charged for each.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fs-adapters/os/buffer_cache.h"
#include "fs-adapters/ufs/directory_block.h"
#include "fs-adapters/ufs/inodes.h"
#include "fs-adapters/ufs/scheme.h"

namespace headcrash::ufs {

struct FoundName {
  InodeNumber inode = 0;
  std::int64_t block = 0;
  std::uint32_t offset = 0;
};

/// Nothing: no such name.
VfsResult<std::optional<FoundName>> find_name(Volume& volume, CoreInode& directory, std::string_view name);

/// Makes sure that some block has room for the name: its number. The directory may grow.
VfsResult<std::int64_t> make_room(Volume& volume, Operation& operation, CoreInode& directory,
                                  std::string_view name);

/// The block of a directory, as its users see it.
VfsResult<os::HeldBuffer> read_directory_block(Volume& volume, CoreInode& directory, std::int64_t block);

/// Puts the name into a block that make_room() found, and tells the scheme. The target's count is raised.
struct NewName {
  std::string_view name;
  std::int64_t block = 0;
  bool raises_directory = false;
  bool others_follow = false;
};
VfsResult<void> add_name(Volume& volume, Operation& operation, CoreInode& directory, CoreInode& target,
                         const NewName& added);
/// Lets a name lead elsewhere; what it was is dropped. The new target's count is raised.
struct ChangedName {
  FoundName at;
  DroppedLink replaced;
  bool raises_directory = false;
};
VfsResult<void> replace_name(Volume& volume, Operation& operation, CoreInode& directory, CoreInode& target,
                             const ChangedName& changed);
VfsResult<void> remove_name(Volume& volume, Operation& operation, CoreInode& directory,
                            const FoundName& found, const DroppedLink& dropped);

VfsResult<bool> is_empty(Volume& volume, CoreInode& directory);

struct ListedName {
  std::string name;
  InodeNumber inode = 0;
  std::uint8_t type = 0;
};
/// Without "." and "..".
VfsResult<std::vector<ListedName>> list_names(Volume& volume, CoreInode& directory);

}  // namespace headcrash::ufs
