#pragma once
// Identifies the content of written blocks. Content stamps name file, version and block, and most
// metadata structures begin with a magic number.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "harness/explorer/explain/disk_map.h"

namespace headcrash::explorer {

/// Describes a metadata block that begins at `lba` on its disk. Uses the first of these that is
/// known: the change in the block, its magic number ("journal commit block of transaction 7"), its
/// place on the disk, or its owner. `type` is the file system type as for mount(2). Returns nullopt
/// if none of them is known.
std::optional<BlockKind> known_block(std::string_view type, std::uint64_t lba,
                                     std::span<const std::byte> block, const KnownDisk& disk = {});

/// Describes a whole write in a few words: "file 3: version 12, blocks 0 to 7", "journal descriptor
/// block of transaction 7; 3 unrecognised blocks". `data` is the write's payload, or the beginning
/// of it.
std::string describe_write(std::string_view type, std::uint64_t lba,
                           std::span<const std::byte> data, const KnownDisk& disk = {});

}  // namespace headcrash::explorer
