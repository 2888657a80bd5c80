// Parses, formats and reports attribute values (attribute_value.h).
#include "harness/workload/attribute_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "harness/workload/parse_number.h"
#include "plugin/base/fnv1a.h"

namespace headcrash::workload {
namespace {

using nlohmann::json;

constexpr std::string_view kHexPrefix = "0x", kFillPrefix = "fill:";
constexpr std::uint32_t kPatterns = 26;
// Longer values are reported as their length and checksum.
constexpr std::size_t kShortBytes = 1024;
constexpr std::size_t kFillShownBytes = 32;  // shorter values are never formatted as "fill:N"

char filler(std::size_t at, std::uint32_t pattern) {
  return static_cast<char>('a' + (at * 7 + at / 251 + pattern) % kPatterns);
}

std::string filled(std::size_t bytes, std::uint32_t pattern) {
  std::string value(bytes, '\0');
  for (std::size_t at = 0; at < bytes; ++at) value[at] = filler(at, pattern);
  return value;
}

std::optional<std::string> parse_fill(std::string_view word) {
  const std::size_t colon = std::min(word.find(':'), word.size());
  std::size_t bytes = 0;
  std::uint32_t pattern = 0;
  if (!parse_number(word.substr(0, colon), bytes) || bytes > kAttributeValueMost)
    return std::nullopt;
  if (colon < word.size() &&
      (!parse_number(word.substr(colon + 1), pattern) || pattern >= kPatterns))
    return std::nullopt;
  return filled(bytes, pattern);
}

std::optional<std::string> parse_hex(std::string_view digits) {
  if (digits.size() % 2 != 0 || digits.size() / 2 > kAttributeValueMost) return std::nullopt;
  std::string value;
  for (std::size_t at = 0; at < digits.size(); at += 2) {
    std::uint8_t byte = 0;
    if (!parse_number(digits.substr(at, 2), byte, 16)) return std::nullopt;
    value += static_cast<char>(byte);
  }
  return value;
}

/// Returns true if the value can be written as plain text, that is, if parse_attribute_value() does
/// not interpret this text as hexadecimal digits or as a fill pattern.
bool is_plain(std::string_view value) {
  return !value.empty() && !value.starts_with(kHexPrefix) && !value.starts_with(kFillPrefix) &&
         std::ranges::all_of(value, [](char c) { return c > ' ' && c <= '~'; });
}

}  // namespace

std::optional<std::string> parse_attribute_value(std::string_view word) {
  if (word.starts_with(kFillPrefix)) return parse_fill(word.substr(kFillPrefix.size()));
  if (word.starts_with(kHexPrefix)) return parse_hex(word.substr(kHexPrefix.size()));
  if (word.size() > kAttributeValueMost) return std::nullopt;
  return std::string(word);
}

std::string format_attribute_value(std::string_view value) {
  if (value.size() > kFillShownBytes && value[0] >= 'a' && value[0] <= 'z') {
    const auto pattern = static_cast<std::uint32_t>(value[0] - 'a');
    if (value == filled(value.size(), pattern)) {
      return pattern == 0 ? fmt::format("fill:{}", value.size())
                          : fmt::format("fill:{}:{}", value.size(), pattern);
    }
  }
  if (is_plain(value)) return std::string(value);
  std::string word(kHexPrefix);
  for (const char byte : value) word += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return word;
}

bool is_attribute_name(std::string_view name) {
  constexpr std::array<std::string_view, 4> kNamespaces{"user.", "trusted.", "security.",
                                                        "system."};
  return name.size() <= kAttributeNameMost &&
         std::ranges::any_of(kNamespaces, [&](std::string_view each) {
           return name.starts_with(each) && name.size() > each.size();
         });
}

bool is_kernels_attribute(std::string_view name) {
  return name.starts_with("security.") || name.starts_with("system.");
}

std::string reported_attribute_value(std::string_view value) {
  if (value.size() <= kShortBytes) return std::string(value);
  // No value in a list can contain a NUL. The result begins with a NUL, so it differs from all
  // short values.
  return std::string(1, '\0') +
         fmt::format("{} bytes, checksum {:016x}", value.size(), base::fnv1a(value));
}

bool is_reported_as_text(std::string_view reported) {
  try {
    static_cast<void>(json(reported).dump());
    return true;
  } catch (const json::exception&) {  // the value is not UTF-8
    return false;
  }
}

std::size_t reported_attribute_bytes(std::string_view name, std::string_view reported) {
  const auto bytes_in_a_message = [](std::string_view text) {
    return json(text).dump(-1, ' ', false, json::error_handler_t::replace).size();
  };
  constexpr std::size_t kQuotes = 2;
  return bytes_in_a_message(name) + (is_reported_as_text(reported) ? bytes_in_a_message(reported)
                                                                   : 2 * reported.size() + kQuotes);
}

}  // namespace headcrash::workload
