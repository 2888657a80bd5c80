#pragma once
// Identifies the content of written blocks. Stamps in file data contain file, version and block,
// and most metadata structures begin with a magic number.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "harness/explorer/explain/disk_map.h"

namespace headcrash::explorer {

/// Describes a metadata block that begins at `lba` on its disk. Uses the first of these facts that
/// is known: the change to the block, its magic number ("journal commit block of transaction 7"),
/// its position on the disk, its owner. Returns nullopt if no fact is known. `type` is the file
/// system type as in mount(2).
std::optional<BlockKind> known_block(std::string_view type, std::uint64_t lba,
                                     std::span<const std::byte> block, const KnownDisk& disk = {});

/// Describes a whole write in a few words, for example "file 3: version 12, blocks 0 to 7" or
/// "journal descriptor block of transaction 7; 3 unrecognised blocks". `data` is the payload of the
/// write, or the beginning of it.
std::string describe_write(std::string_view type, std::uint64_t lba,
                           std::span<const std::byte> data, const KnownDisk& disk = {});

}  // namespace headcrash::explorer
