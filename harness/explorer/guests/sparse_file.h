#pragma once
// An anonymous file in memory (memfd). No other process sees it, and it disappears with its
// descriptor even if headcrash is killed. Copies a state's image into the file without filling
// holes, and finds later changes.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "plugin/base/descriptor.h"
#include "plugin/base/result.h"
#include "plugin/states/state_image.h"

namespace headcrash::explorer {

Result<base::Descriptor> make_sparse_file(std::uint64_t bytes);

/// Writes `bytes` to a file that holds zeroes there. Blocks of zeroes remain holes.
Result<void> write_sparse(const base::Descriptor& file, std::uint64_t offset,
                          std::span<const std::byte> bytes);

/// The content of a copy where nothing was recorded: zeroes, or the previous content of a used disk
/// (record/used_disk.h), which requires a copy of the disk's size.
enum class Unwritten : std::uint8_t { zeroes, as_on_the_disk };

/// Passes recorded content that may be nonzero to `on_piece`, piece by piece, until the first
/// error. Passes the whole disk if unwritten content is requested.
using OnPiece = std::function<Result<void>(std::uint64_t offset, std::span<const std::byte> bytes)>;
Result<void> visit_pieces(const states::StateImage& image, const OnPiece& on_piece,
                          Unwritten unwritten = Unwritten::zeroes);

/// Passes the parts of `file` that differ from those pieces. `file` is a copy of them that a
/// program has changed.
Result<void> visit_changes(const states::StateImage& image, const base::Descriptor& file,
                           const OnPiece& on_piece, Unwritten unwritten = Unwritten::zeroes);

}  // namespace headcrash::explorer
