#pragma once
// An anonymous file in memory (memfd) that nobody else sees and that goes with its descriptor, even
// when headcrash is killed; how a state's image comes into a file without filling its holes, and
// what became of it there.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "plugin/base/descriptor.h"
#include "plugin/base/result.h"
#include "plugin/states/state_image.h"

namespace headcrash::explorer {

Result<base::Descriptor> make_sparse_file(std::uint64_t bytes);

/// Into a file that holds zeroes there: blocks of zeroes stay holes.
Result<void> put_sparse(const base::Descriptor& file, std::uint64_t offset,
                        std::span<const std::byte> bytes);

/// What a copy has where nothing was recorded: zeroes, or what a used disk (record/used_disk.h)
/// held before, for which it has to be as large as the disk.
enum class Unwritten : std::uint8_t { zeroes, as_on_the_disk };

/// What was recorded and is not known to be zeroes, a piece at a time, up to the first error; all
/// of the disk, if what is unwritten is wanted, too.
using OnPiece = std::function<Result<void>(std::uint64_t offset, std::span<const std::byte> bytes)>;
Result<void> visit_pieces(const states::StateImage& image, const OnPiece& on_piece,
                          Unwritten unwritten = Unwritten::zeroes);

/// What `file`, a copy of those pieces that a program has worked on, holds where it differs from
/// them.
Result<void> visit_changes(const states::StateImage& image, const base::Descriptor& file,
                           const OnPiece& on_piece, Unwritten unwritten = Unwritten::zeroes);

}  // namespace headcrash::explorer
