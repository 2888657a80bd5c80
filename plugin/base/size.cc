#include "plugin/base/size.h"

#include <charconv>
#include <limits>

namespace headcrash::base {

Result<std::uint64_t> parse_size(std::string_view text, const std::string& subject) {
  constexpr std::string_view kUnits = "bkMGTPE";
  constexpr unsigned kSectorShift = 9;
  std::uint64_t value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  std::string_view unit(rest, static_cast<std::size_t>(text.data() + text.size() - rest));
  constexpr std::string_view kBinary = "iB";  // "MiB" means the same as "M"
  if (unit.size() == 1 + kBinary.size() && unit.ends_with(kBinary) &&
      std::string_view("KMGTPE").find(unit[0]) != std::string_view::npos)
    unit.remove_suffix(kBinary.size());
  unsigned shift = 0;
  bool known = unit.size() <= 1;
  if (unit == "s" || unit == "S") {
    shift = kSectorShift;
  } else if (known && !unit.empty()) {
    const std::size_t power = kUnits.find(unit == "K" ? 'k' : unit == "B" ? 'b' : unit[0]);
    known = power != std::string_view::npos;
    if (known) shift = static_cast<unsigned>(power) * 10;
  }
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (error != std::errc{} || !known || value > kMost >> shift) {
    return fail(subject, "\"" + std::string(text) + "\" is not a size",
                "use a number of bytes, or a number followed by K, M, G or T");
  }
  return value << shift;
}

}  // namespace headcrash::base
