#pragma once
// Identifies the content of written blocks where it is self-describing. Content stamps name file,
// version and block; the structures of most file systems begin with a magic number.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "harness/explorer/explain/disk_map.h"

namespace headcrash::explorer {

/// Describes a block of metadata that begins at `lba` of its disk. Uses what changed in it, or else
/// its magic number ("journal commit block of transaction 7"), or else its place or owner as far as
/// the disk is known. `type` is that of mount(2). Returns nullopt if none of these is known.
std::optional<BlockKind> known_block(std::string_view type, std::uint64_t lba,
                                     std::span<const std::byte> block, const KnownDisk& disk = {});

/// Describes a whole write in a few words: "file 3: version 12, blocks 0 to 7", "journal descriptor
/// block of transaction 7; 3 unrecognised blocks". `data` is its payload, or the beginning of it.
std::string describe_write(std::string_view type, std::uint64_t lba,
                           std::span<const std::byte> data, const KnownDisk& disk = {});

}  // namespace headcrash::explorer
