// Parses decimal numbers without floating point. The numbers have no sign and no exponent. In a
// time, the digits before the point are whole milliseconds. Up to six digits after the point give
// the fraction, down to one nanosecond.
#include "plugin/model/core/number_text.h"

#include <fmt/core.h>

#include <algorithm>

namespace headcrash::model {
namespace {

constexpr std::size_t kNsDigits = 6;  ///< decimal places of a millisecond, down to 1 ns

bool is_digits(std::string_view text) {
  return !text.empty() && text.size() <= 18 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::uint64_t digits_value(std::string_view digits) {
  std::uint64_t value = 0;
  for (const char c : digits) value = value * 10 + static_cast<std::uint64_t>(c - '0');
  return value;
}

}  // namespace

Result<std::uint64_t> parse_number(const std::string& subject, std::string_view text,
                                   const NumberBounds& bounds) {
  if (is_digits(text)) {
    const std::uint64_t value = digits_value(text);
    if (value >= bounds.least && value <= bounds.most) return value;
  }
  return fail(subject,
              fmt::format("{} '{}' is not a whole number from {} to {}", bounds.what, text,
                          bounds.least, bounds.most),
              bounds.hint);
}

Result<TimeNs> parse_milliseconds(const std::string& subject, std::string_view text) {
  const std::size_t point = text.find('.');
  const std::string_view millis = text.substr(0, point);
  const std::string_view fraction = point == std::string_view::npos ? "0" : text.substr(point + 1);
  if (!is_digits(millis) || !is_digits(fraction)) {
    return fail(subject, fmt::format("the time '{}' is not a decimal number of milliseconds", text),
                "for example, use 12.5");
  }
  if (fraction.size() > kNsDigits) {
    return fail(subject, fmt::format("the time '{}' has a resolution below one nanosecond", text),
                "use at most six decimal places");
  }
  if (digits_value(millis) > kDelayMsMax) {
    return fail(subject, fmt::format("the time '{}' exceeds {} ms", text, kDelayMsMax),
                "use a shorter time");
  }
  std::uint64_t fraction_ns = digits_value(fraction);
  for (std::size_t i = fraction.size(); i < kNsDigits; ++i) fraction_ns *= 10;
  return static_cast<TimeNs>(digits_value(millis) * kMillisecondNs + fraction_ns);
}

std::string milliseconds_text(TimeNs ns) {
  std::string text = fmt::format("{}.{:06}", ns / kMillisecondNs, ns % kMillisecondNs);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

}  // namespace headcrash::model
