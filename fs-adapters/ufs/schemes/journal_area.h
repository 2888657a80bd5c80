#pragma once
// Room for a journal in a file system: whole blocks in a row, in the group in the middle or the
// next one that has them, used in the group's map as the summary area is, and named by the
// superblock and its replicas. The superblock says "not clean" until all of that agrees. Or a
// device of its own, which the journal has from its beginning on.

#include <cstdint>
#include <optional>

#include "fs-adapters/ufs/core/cylinder_group.h"
#include "fs-adapters/ufs/format/format.h"
#include "fs-adapters/ufs/format/geometry.h"
#include "plugin/base/result.h"
#include "plugin/model/core/store.h"

namespace headcrash::ufs {

/// Over the one that is there. `byte`: of it, or of a replica. The sector with the flag "clean" is
/// written last.
Result<void> write_superblock(model::SectorStore& store, const Superblock& superblock,
                              std::uint64_t byte);
/// The same where the one at `byte` is damaged: what `Superblock` does not hold is taken from
/// `like_byte`.
Result<void> write_superblock(model::SectorStore& store, const Superblock& superblock,
                              std::uint64_t byte, std::uint64_t like_byte);

/// An empty journal where a damaged one was: the whole area is zeroed.
Result<void> remake_journal(model::SectorStore& store, const Superblock& superblock);

/// Takes room for a journal in a file system that is clean. `bytes` 0: as mkfs thinks fit. An Error
/// names what is too small.
Result<void> add_journal(model::SectorStore& store, Superblock& superblock, std::uint64_t bytes);
/// Makes an empty journal on the second device of the store (os/device_stores.h), for a file system
/// that is being made, and says so in its superblock, which is not written. `bytes` 0: 16 MiB. The
/// identifier follows from the file system's id, time and size, and from what was there: who makes
/// several with logs at once gives each an id. Errors: no such device, or shorter; less than
/// transactions need.
Result<void> make_external_journal(model::SectorStore& store, Superblock& superblock,
                                   std::uint64_t bytes);
/// The least that transactions fit into.
std::uint32_t journal_fragments_min(const Superblock& superblock);
/// To be known before anything is written: how long a journal of `bytes` is; where a group has
/// free blocks in a row for it, in fragments of the group; and what to say when none has.
Result<std::uint32_t> journal_fragments(const Superblock& superblock, std::uint64_t bytes);
std::optional<std::uint32_t> row_for_journal(const CylinderGroup& group, const Geometry& geometry,
                                             std::uint32_t fragments);
tl::unexpected<Error> no_row_for_journal(const Superblock& superblock, std::uint32_t fragments);
/// What one operation may change at most, however long its file is: so many blocks, and the groups'
/// headers. These are the same blocks for all operations of a transaction.
inline constexpr std::uint32_t kBlocksOfAnOperation =
    16;  // a rename: names, directories that grow, inodes, ".."
std::uint32_t operation_blocks_max(std::uint32_t groups);

}  // namespace headcrash::ufs
