#pragma once
// Maps blocks of a file to addresses: twelve direct pointers, then one, two and three levels of
// indirect blocks (geometry.h). Holes have no address and read as zeroes. If a file has only direct
// pointers, its last block may consist of fragments. When the file grows, they grow in place or
// move. With bmap caches, the address of a block that is appended after the direct blocks goes to
// the cache.
//
// All functions require the inode's lock.

#include <cstdint>
#include <vector>

#include "fs-adapters/substrate/os/buffer_cache.h"
#include "fs-adapters/substrate/tree/inode_store.h"
#include "fs-adapters/ufs/core/inodes.h"
#include "fs-adapters/ufs/schemes/scheme.h"

namespace headcrash::ufs {

/// Returns the address of file block `block`; 0 for a hole.
VfsResult<FragmentAddress> find_block(Volume& volume, CoreInode& inode, std::int64_t block);

/// Returns the contents of a block that is not a hole, held. Reads the next block ahead if the file
/// is read sequentially.
VfsResult<os::HeldBuffer> read_file_block(Volume& volume, CoreInode& inode, std::int64_t block,
                                          FragmentAddress at);

using tree::BlockWanted;
/// Returns the block for writing. Allocates it if it was a hole; extends it if it was too short.
/// The caller must update the inode's size. Exception: if the old last block consists of fragments
/// and is now followed by another block, this function makes it a whole block and raises the size
/// accordingly.
VfsResult<os::HeldBuffer> block_for_writing(Volume& volume, Operation& operation, CoreInode& inode,
                                            const BlockWanted& wanted);

// For files with a bmap cache (bmap_cache.h); in bmap_merge.cc.
//
/// Copies the cached addresses to the indirect block. The in-core cache is kept. The caller must
/// then write the inode without a cache, after the indirect block.
VfsResult<void> merge_bmap_cache(Volume& volume, CoreInode& inode);
/// Merges the cache and writes the inode without one. Must be called before a pointer that may be
/// in a cache is freed.
VfsResult<void> end_bmap_cache(Volume& volume, CoreInode& inode);

/// Turns the blocks from `first` to `end`, exclusive, into holes.
VfsResult<void> free_blocks(Volume& volume, Operation& operation, CoreInode& inode,
                            std::int64_t first, std::int64_t end);
/// Sets the size of a regular file or directory. Frees blocks beyond it; an extension is a hole.
VfsResult<void> set_size(Volume& volume, Operation& operation, CoreInode& inode,
                         std::uint64_t size_bytes);
/// Resets an inode's in-core pointers, size and mode, and discards the buffers of its blocks.
/// Returns the extents that it owned.
VfsResult<std::vector<Extent>> take_all_blocks(Volume& volume, CoreInode& inode);
/// Returns a file's indirect blocks that are dirty or being written, lowest level first, for fsync.
/// A block whose buffer has been evicted may be in the result if a copy is being written.
std::vector<os::BufferKey> unwritten_indirect_blocks(Volume& volume, CoreInode& inode);

}  // namespace headcrash::ufs
