#include "plugin/replay/trace_fields.h"

namespace headcrash::replay {
namespace {

constexpr std::uint64_t kBlockBytes = 512;
constexpr std::uint64_t kOffsetBytesMax = std::uint64_t{1} << 61U;
constexpr ParseError kNoTime{"the arrival time is not a number", kTimeHint};
constexpr ParseError kTooLate{"the arrival time exceeds 292 years",
                              "use the format's unit, and a time in 1970 or later"};

}  // namespace

ParsedTime time_of(std::string_view text, TimeNs unit_ns) {
  using State = ParsedTime::State;
  constexpr TimeNs kMax = std::numeric_limits<TimeNs>::max() / 10;
  TimeNs ns = 0;
  std::size_t i = 0;
  bool too_large = false;
  for (; i < text.size() && is_digit(text[i]); ++i) {
    // The check precedes the multiplication, because the product could overflow.
    too_large = too_large || ns > kMax - unit_ns;
    if (!too_large) ns = ns * 10 + (text[i] - '0') * unit_ns;
  }
  const std::size_t digits = i;
  if (i < text.size() && text[i] == '.') {
    TimeNs place_ns = unit_ns;
    for (++i; i < text.size() && is_digit(text[i]); ++i) {
      if (place_ns == 1 && text[i] >= '5') ++ns;
      place_ns /= 10;
      ns += (text[i] - '0') * place_ns;
    }
  }
  if (digits == 0 || i != text.size()) return {State::no_number, 0};
  return {too_large ? State::too_large : State::good, ns};
}

CommaFields::CommaFields(std::string_view line) {
  for (;;) {
    const std::size_t comma = line.find(',');
    std::string_view field = line.substr(0, comma);
    while (!field.empty() && is_blank(field.front())) field.remove_prefix(1);
    while (!field.empty() && is_blank(field.back())) field.remove_suffix(1);
    if (count < kMax) fields[count] = field;
    ++count;
    if (comma == std::string_view::npos) return;
    line.remove_prefix(comma + 1);
  }
}

bool blocks_of_bytes(std::string_view offset, std::string_view length, TraceRequest& into) {
  const auto first = number_of<std::uint64_t>(offset, kOffsetBytesMax);
  const auto bytes = number_of<std::uint64_t>(length, kBlocksMax * kBlockBytes);
  if (!first || !bytes || *bytes == 0) return false;
  const std::uint64_t end = (*first + *bytes + kBlockBytes - 1) / kBlockBytes;
  into.lbn = *first / kBlockBytes;
  into.blocks = static_cast<std::uint32_t>(end - into.lbn);
  return true;
}

std::optional<ParseError> parse_arrival(std::string_view text, TimeNs unit_ns, TraceRequest& into) {
  const ParsedTime time = time_of(text, unit_ns);
  if (time.state == ParsedTime::State::too_large) return kTooLate;
  if (!time) return kNoTime;
  into.wait_ns = time.ns;
  return std::nullopt;
}

}  // namespace headcrash::replay
