#pragma once
// Image edits for fuzzers of on-disk formats. The input is a program of edits, six bytes each.
//
//   area | offset (16 bits) | action | operand (16 bits, low byte first)
//
// Each edit begins within one of the areas that the fuzzer selects (a superblock, an inode), so
// edits hit structures and not free space.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "plugin/base/little_endian.h"

namespace headcrash::fuzz {

inline constexpr std::size_t kImageEditBytes = 6;

struct ImageEdit {
  std::uint64_t at = 0;   ///< byte offset in the image; at least eight bytes follow
  std::uint8_t what = 0;  ///< action; the fuzzer reduces it modulo its number of actions
  std::uint16_t operand = 0;

  /// Applies one of the three common actions: replace a byte, replace a word, complement a word.
  /// Returns false for any other action.
  bool overwrite(std::span<std::byte> image, unsigned kind) const {
    if (kind == 0) little_endian::store8(image, at, static_cast<std::uint8_t>(operand));
    if (kind == 1) little_endian::store32(image, at / 4 * 4, operand);
    if (kind == 2) little_endian::store32(image, at / 4 * 4, ~std::uint32_t{operand});
    return kind <= 2;
  }
  void flip_bit(std::span<std::byte> image) const {
    const std::uint8_t old = little_endian::load8(image, at);
    little_endian::store8(image, at, static_cast<std::uint8_t>(old ^ (1U << (operand % 8))));
  }
};

struct ImageEditOptions {
  std::span<const std::uint64_t> areas;  ///< byte offsets of the areas; at least one
  /// Each edit begins fewer than `reach` bytes after the start of an area.
  std::uint32_t reach = 0;
  std::size_t most = 0;  ///< maximum number of edits; further edits are ignored
};

/// Calls `apply` for each edit of `program`, in order. Skips edits that extend past the end of the
/// image.
template <typename Apply>
void each_image_edit(std::string_view program, std::span<std::byte> image,
                     const ImageEditOptions& options, const Apply& apply) {
  for (std::size_t i = 0;
       i + kImageEditBytes <= program.size() && i / kImageEditBytes < options.most;
       i += kImageEditBytes) {
    const auto byte = [&](std::size_t k) { return static_cast<std::uint8_t>(program[i + k]); };
    const std::uint64_t at =
        options.areas[byte(0) % options.areas.size()] + (byte(1) + 256U * byte(2)) % options.reach;
    if (at + 8 > image.size()) continue;
    apply(ImageEdit{.at = at,
                    .what = byte(3),
                    .operand = static_cast<std::uint16_t>(byte(4) + 256U * byte(5))});
  }
}

}  // namespace headcrash::fuzz
