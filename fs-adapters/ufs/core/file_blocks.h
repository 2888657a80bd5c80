#pragma once
// Maps a file's blocks to addresses: twelve direct pointers, then one, two and three levels of
// indirect blocks (geometry.h). Holes have no address and read as zeroes. If a file has only direct
// pointers, its last block may consist of fragments. When the file grows, these fragments are
// extended in place or moved. With bmap caches, the address of a block that is appended after the
// direct blocks goes to the cache.
//
// All functions require the inode's lock.

#include <cstdint>
#include <vector>

#include "fs-adapters/substrate/os/buffer_cache.h"
#include "fs-adapters/substrate/tree/inode_store.h"
#include "fs-adapters/ufs/core/inodes.h"
#include "fs-adapters/ufs/schemes/scheme.h"

namespace headcrash::ufs {

/// Returns the address of block number `block` of the file; 0 if it is a hole.
VfsResult<FragmentAddress> find_block(Volume& volume, CoreInode& inode, std::int64_t block);

/// Returns the contents of a block that is not a hole, held. If the file is read sequentially, also
/// starts to read the next block.
VfsResult<os::HeldBuffer> read_file_block(Volume& volume, CoreInode& inode, std::int64_t block,
                                          FragmentAddress at);

using tree::BlockWanted;
/// Returns the block for writing. Allocates the block if it is a hole, and extends the block if it
/// is too short. The caller must update the inode's size, with one exception: if another block will
/// follow a last block that consists of fragments, this function extends the last block to a whole
/// block and raises the size.
VfsResult<os::HeldBuffer> block_for_writing(Volume& volume, Operation& operation, CoreInode& inode,
                                            const BlockWanted& wanted);

// The next two functions are for files with a bmap cache (bmap_cache.h), and are implemented in
// bmap_merge.cc.
//
// Copies the cached addresses to the indirect block. The in-core cache does not change. Afterwards,
// the caller must write the indirect block and then the inode without a cache.
VfsResult<void> merge_bmap_cache(Volume& volume, CoreInode& inode);
/// Merges the cache and writes the inode without a cache. Must be called before a pointer that may
/// be in a cache is freed.
VfsResult<void> end_bmap_cache(Volume& volume, CoreInode& inode);

/// Turns the blocks from `first` up to but not including `end` into holes.
VfsResult<void> free_blocks(Volume& volume, Operation& operation, CoreInode& inode,
                            std::int64_t first, std::int64_t end);
/// Sets the size of a regular file or directory. If the size shrinks, frees the blocks beyond the
/// new end; if it grows, the new part is a hole.
VfsResult<void> set_size(Volume& volume, Operation& operation, CoreInode& inode,
                         std::uint64_t size_bytes);
/// Clears an inode's pointers, size and mode in core, and discards the buffers of its blocks.
/// Returns the inode's former extents.
VfsResult<std::vector<Extent>> take_all_blocks(Volume& volume, CoreInode& inode);
/// For fsync: returns those indirect blocks of a file that are dirty or being written, lowest level
/// first. The result may include a block whose buffer has been evicted, if a copy of the block is
/// being written.
std::vector<os::BufferKey> unwritten_indirect_blocks(Volume& volume, CoreInode& inode);

}  // namespace headcrash::ufs
