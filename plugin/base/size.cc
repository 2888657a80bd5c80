#include "plugin/base/size.h"

#include <charconv>
#include <limits>

namespace headcrash::base {

Result<std::uint64_t> parse_size(std::string_view text, const std::string& subject) {
  constexpr std::string_view kUnits = "BKMGT";
  std::uint64_t value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view unit(rest, static_cast<std::size_t>(text.data() + text.size() - rest));
  const std::size_t power = unit.empty() ? 0 : kUnits.find(unit[0]);
  if (error != std::errc{} || unit.size() > 1 || power == std::string_view::npos ||
      value > (std::numeric_limits<std::uint64_t>::max() >> (10 * power))) {
    return fail(subject, "\"" + std::string(text) + "\" is not a size",
                "write a number of bytes, or one with K, M, G or T");
  }
  return value << (10 * power);
}

}  // namespace headcrash::base
