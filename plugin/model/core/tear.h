#pragma once
// What a power cut leaves of the physical sector under the head (of a flash device: being
// programmed), and the words by which profiles, machine files and the plugin's parameters ask for
// it.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace headcrash::model {

enum class Tear : std::uint8_t {
  silent,  ///< old 1/8, new 1/8, a mix 6/8: reading succeeds, the hardest case for a file system
  any,     ///< old, new, a mix or unreadable, 1/4 each
  /// medium_error until it is written again, as a drive that checks its sectors would mostly
  unreadable,
  ///< say
};

/// In the order of the values.
inline constexpr std::array<std::string_view, 3> kTearNames = {"silent", "any", "unreadable"};

inline std::optional<Tear> parse_tear(std::string_view text) {
  for (std::size_t i = 0; i < kTearNames.size(); ++i)
    if (kTearNames[i] == text) return static_cast<Tear>(i);
  return std::nullopt;
}

}  // namespace headcrash::model
