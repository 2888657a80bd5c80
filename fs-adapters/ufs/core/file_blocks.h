#pragma once
// From a file's blocks to their places: twelve direct pointers, then one, two and three levels of
// indirect blocks (geometry.h). Holes have no place and read as zeroes. The last block of a file
// that needs direct pointers only may be a few fragments; when the file grows they grow in place,
// or move. Where files have bmap caches the address of a block that is appended behind the direct
// ones is put into that.
//
// All functions are called with the inode's lock held.

#include <cstdint>
#include <vector>

#include "fs-adapters/substrate/os/buffer_cache.h"
#include "fs-adapters/substrate/tree/inode_store.h"
#include "fs-adapters/ufs/core/inodes.h"
#include "fs-adapters/ufs/schemes/scheme.h"

namespace headcrash::ufs {

/// Where block `block` is; 0: a hole.
VfsResult<FragmentAddress> find_block(Volume& volume, CoreInode& inode, std::int64_t block);

/// The contents of a block that is not a hole, held. The next one is read ahead for who reads them
/// in order.
VfsResult<os::HeldBuffer> read_file_block(Volume& volume, CoreInode& inode, std::int64_t block,
                                          FragmentAddress at);

using tree::BlockWanted;
/// The block for writing: allocated if it was a hole, grown if it was too short. The inode's size
/// is left to the caller, but for a last block of fragments that is now followed by others: it
/// becomes whole.
VfsResult<os::HeldBuffer> block_for_writing(Volume& volume, Operation& operation, CoreInode& inode,
                                            const BlockWanted& wanted);

// Of files with a bmap cache (bmap_cache.h), bmap_merge.cc:
/// The indirect block holds what was cached. The cache is still in core, and the inode has to
/// follow it there without that.
VfsResult<void> merge_bmap_cache(Volume& volume, CoreInode& inode);
/// Merged, and the inode is on the disk without a cache: before a pointer that may be in one goes.
VfsResult<void> end_bmap_cache(Volume& volume, CoreInode& inode);

/// Blocks from `first` on up to `end` become holes.
VfsResult<void> free_blocks(Volume& volume, Operation& operation, CoreInode& inode,
                            std::int64_t first, std::int64_t end);
/// Makes the file so long: what is cut off is freed, what is added is a hole. Of a regular file or
/// directory.
VfsResult<void> set_size(Volume& volume, Operation& operation, CoreInode& inode,
                         std::uint64_t size_bytes);
/// Resets all pointers, size and mode in core, forgets all buffers; says what there was.
VfsResult<std::vector<Extent>> take_all_blocks(Volume& volume, CoreInode& inode);
/// The indirect blocks of a file that are dirty or being written, lowest first: for fsync. The
/// cache may have dropped one of which a copy is being written.
std::vector<os::BufferKey> unwritten_indirect_blocks(Volume& volume, CoreInode& inode);

}  // namespace headcrash::ufs
