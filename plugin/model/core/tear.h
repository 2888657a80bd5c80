#pragma once
// The possible states of a physical sector that was being written when the power was cut (under the
// head, or being programmed in flash). Profiles, machine files and plugin parameters use the names
// of these states.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace headcrash::model {

enum class Tear : std::uint8_t {
  /// The sector is old or new with probability 1/8 each, and a mix of old and new bytes with
  /// probability 6/8. Reads succeed, which is the hardest case for a file system.
  silent,
  any,  ///< old, new, a mix or unreadable, with probability 1/4 each
  /// The write leaves an unreadable sector: reads return medium_error until the next write. This is
  /// the most likely result for a drive with sector checksums.
  unreadable,
};

/// Indexed by Tear.
inline constexpr std::array<std::string_view, 3> kTearNames = {"silent", "any", "unreadable"};

inline std::optional<Tear> parse_tear(std::string_view text) {
  for (std::size_t i = 0; i < kTearNames.size(); ++i)
    if (kTearNames[i] == text) return static_cast<Tear>(i);
  return std::nullopt;
}

}  // namespace headcrash::model
