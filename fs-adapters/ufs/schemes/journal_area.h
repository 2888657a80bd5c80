#pragma once
// Space for a journal: contiguous whole blocks in the middle group, or in the next group that has
// enough of them. They are marked as used in the group's map, like the summary area, and recorded
// in the superblock and its replicas. The superblock is not clean until all of this is consistent.
// Alternatively, the journal occupies a separate device from its start.

#include <cstdint>
#include <optional>

#include "fs-adapters/ufs/core/cylinder_group.h"
#include "fs-adapters/ufs/format/format.h"
#include "fs-adapters/ufs/format/geometry.h"
#include "plugin/base/result.h"
#include "plugin/model/core/store.h"

namespace headcrash::ufs {

/// Writes the superblock, or a replica, over the existing one at `byte`. The sector with the flag
/// "clean" is written last.
Result<void> write_superblock(model::SectorStore& store, const Superblock& superblock,
                              std::uint64_t byte);
/// Like the above, if the superblock at `byte` is damaged: fields that `Superblock` lacks are
/// copied from the superblock at `like_byte`.
Result<void> write_superblock(model::SectorStore& store, const Superblock& superblock,
                              std::uint64_t byte, std::uint64_t like_byte);

/// Replaces a damaged journal with an empty one; zeroes the whole area.
Result<void> remake_journal(model::SectorStore& store, const Superblock& superblock);

/// Allocates a journal in a clean file system. If `bytes` is 0, mkfs's default size is used. The
/// Error names what is too small.
Result<void> add_journal(model::SectorStore& store, Superblock& superblock, std::uint64_t bytes);
/// Creates an empty journal on the store's second device (os/device_stores.h) for a new file
/// system, and records it in `superblock`, which is not written. If `bytes` is 0, the size is 16
/// MiB. The identifier is derived from the file system's id, time and size, and from the device's
/// old contents. Callers that create several file systems at the same time must give each an id.
/// Fails if the device is missing or too short, or if `bytes` is below the minimum for
/// transactions.
Result<void> make_external_journal(model::SectorStore& store, Superblock& superblock,
                                   std::uint64_t bytes);
/// Returns the minimum size for transactions.
std::uint32_t journal_fragments_min(const Superblock& superblock);
/// For checks before anything is written. These functions return the length of a journal of
/// `bytes`, the position of enough contiguous free blocks in a group (in fragments of the group),
/// and the error if there is one.
Result<std::uint32_t> journal_fragments(const Superblock& superblock, std::uint64_t bytes);
std::optional<std::uint32_t> row_for_journal(const CylinderGroup& group, const Geometry& geometry,
                                             std::uint32_t fragments);
tl::unexpected<Error> no_row_for_journal(const Superblock& superblock, std::uint32_t fragments);
/// Maximum number of blocks that one operation changes, for a file of any length: for a rename, the
/// names, growing directories, inodes and "..". The groups' headers are not included, because all
/// operations in a transaction share them.
inline constexpr std::uint32_t kBlocksOfAnOperation = 16;
std::uint32_t operation_blocks_max(std::uint32_t groups);

}  // namespace headcrash::ufs
