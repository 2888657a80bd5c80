#pragma once
// What written bytes are, as far as they say so themselves: content stamps name file, version and block; the
// structures of most file systems begin with a magic number.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace headcrash::explorer {

/// A block of metadata that begins at `lba` of its disk, by its magic number: "journal commit block of
/// transaction 7". `type` is that of mount(2). Nothing: it does not say.
std::optional<std::string> metadata_kind(std::string_view type, std::uint64_t lba,
                                         std::span<const std::byte> block);

/// A whole write, in a few words: "file 3: version 12, blocks 0 to 7", "journal descriptor block of
/// transaction 7; 3 unrecognised blocks". `data` is its payload, or the beginning of it.
std::string describe_write(std::string_view type, std::uint64_t lba, std::span<const std::byte> data);

}  // namespace headcrash::explorer
