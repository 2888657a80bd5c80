#pragma once
// Names of the values of an enumeration, in one table:
//
//   constexpr auto kKinds = base::names<Kind>({"submit", "ack", "media"});
//   kKinds[Kind::ack]          "ack"
//   kKinds.parse("media")      Kind::media

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace headcrash::base {

/// The values of `Enum` must be 0, 1, 2, ..., in the order of the names.
template <typename Enum, std::size_t kCount>
class Names {
 public:
  constexpr explicit Names(const std::string_view (&all)[kCount]) {
    std::copy_n(all, kCount, all_.begin());
  }

  /// Returns "unknown" for a value that has no name. The text is NUL-terminated.
  constexpr std::string_view operator[](Enum value) const {
    const auto index = static_cast<std::size_t>(value);
    return index < kCount ? all_[index] : std::string_view("unknown");
  }
  /// Returns the value with this name, or nullopt if it is unknown.
  constexpr std::optional<Enum> parse(std::string_view name) const {
    const auto found = std::find(all_.begin(), all_.end(), name);
    if (found == all_.end()) return std::nullopt;
    return static_cast<Enum>(found - all_.begin());
  }
  constexpr const std::array<std::string_view, kCount>& all() const { return all_; }

 private:
  std::array<std::string_view, kCount> all_{};
};

template <typename Enum, std::size_t kCount>
constexpr Names<Enum, kCount> names(const std::string_view (&all)[kCount]) {
  return Names<Enum, kCount>(all);
}

}  // namespace headcrash::base
