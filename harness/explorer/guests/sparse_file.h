#pragma once
// Copies a state's image to an anonymous in-memory file (memfd) in which holes remain holes, and
// finds later changes to the copy. No other process can open such a file, and the kernel frees it
// when its descriptor is closed, even if headcrash is killed.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "plugin/base/descriptor.h"
#include "plugin/base/result.h"
#include "plugin/states/state_image.h"

namespace headcrash::explorer {

Result<base::Descriptor> make_sparse_file(std::uint64_t bytes);

/// Writes `bytes` to a range of the file. The range must contain only zeroes before the write.
/// Blocks of zeroes remain holes.
Result<void> write_sparse(const base::Descriptor& file, std::uint64_t offset,
                          std::span<const std::byte> bytes);

/// Contents of the unrecorded regions of a copy: zeroes, or the previous contents of a used disk
/// (record/used_disk.h). With as_on_the_disk, the copy must have the size of the disk.
enum class Unwritten : std::uint8_t { zeroes, as_on_the_disk };

/// Receives the pieces of an image, one by one. Visiting stops at the first error.
using OnPiece = std::function<Result<void>(std::uint64_t offset, std::span<const std::byte> bytes)>;
Result<void> visit_pieces(const states::StateImage& image, const OnPiece& on_piece,
                          Unwritten unwritten = Unwritten::zeroes);

/// Visits the parts of `file` that differ from `image`. `file` is a copy of the image that a
/// program has changed.
Result<void> visit_changes(const states::StateImage& image, const base::Descriptor& file,
                           const OnPiece& on_piece, Unwritten unwritten = Unwritten::zeroes);

}  // namespace headcrash::explorer
