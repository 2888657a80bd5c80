#pragma once
// The space of a journal: contiguous whole blocks in the middle group, or in the next group that
// has enough of them. Like the summary area, these blocks are marked as used in the group's map and
// recorded in the superblock and its replicas. The superblock is marked clean only after all of
// these records are consistent. An external journal occupies a separate device from its start.

#include <cstdint>
#include <optional>

#include "fs-adapters/ufs/core/cylinder_group.h"
#include "fs-adapters/ufs/format/format.h"
#include "fs-adapters/ufs/format/geometry.h"
#include "plugin/base/result.h"
#include "plugin/model/core/store.h"

namespace headcrash::ufs {

/// Writes the superblock, or a replica, over the existing one at `byte`. The sector that contains
/// the flag "clean" is written last.
Result<void> write_superblock(model::SectorStore& store, const Superblock& superblock,
                              std::uint64_t byte);
/// Replaces a damaged superblock at `byte`. Bytes for which `Superblock` has no field are copied
/// from the superblock at `like_byte`.
Result<void> write_superblock(model::SectorStore& store, const Superblock& superblock,
                              std::uint64_t byte, std::uint64_t like_byte);

/// Replaces a damaged journal with an empty one, and zeroes the whole area.
Result<void> remake_journal(model::SectorStore& store, const Superblock& superblock);

/// Allocates a journal in a clean file system. If `bytes` is 0, mkfs's default size is used. If
/// there is too little space, the Error says what is too small.
Result<void> add_journal(model::SectorStore& store, Superblock& superblock, std::uint64_t bytes);
/// Creates an empty journal on the store's second device (os/device_stores.h) for a new file
/// system, and records it in `superblock`, but does not write the superblock. If `bytes` is 0, the
/// size is 16 MiB. The journal's identifier is derived from the file system's id, time and size,
/// and from the device's old contents. Callers that create several file systems at the same time
/// must therefore give each of them its own id. Fails if the device is missing or too short, or if
/// `bytes` is less than journal_fragments_min().
Result<void> make_external_journal(model::SectorStore& store, Superblock& superblock,
                                   std::uint64_t bytes);
std::uint32_t journal_fragments_min(const Superblock& superblock);
/// These functions check, before anything is written, whether a journal fits. journal_fragments()
/// returns the length of a journal of `bytes`. row_for_journal() returns the position of enough
/// contiguous free blocks in a group, in fragments from the group's start. no_row_for_journal()
/// returns the error to report if no group has enough of them.
Result<std::uint32_t> journal_fragments(const Superblock& superblock, std::uint64_t bytes);
std::optional<std::uint32_t> row_for_journal(const CylinderGroup& group, const Geometry& geometry,
                                             std::uint32_t fragments);
tl::unexpected<Error> no_row_for_journal(const Superblock& superblock, std::uint32_t fragments);
/// Maximum number of blocks that one operation changes, whatever the length of the file. A rename,
/// for example, changes the names, growing directories, inodes and "..". The groups' headers are
/// not included, because all operations in a transaction share them.
inline constexpr std::uint32_t kBlocksOfAnOperation = 16;
std::uint32_t operation_blocks_max(std::uint32_t groups);

}  // namespace headcrash::ufs
