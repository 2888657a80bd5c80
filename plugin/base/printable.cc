#include "plugin/base/printable.h"

#include <fmt/format.h>

#include <cstdint>

namespace headcrash::base {
namespace {

/// The first character of a string. Its length is 0 if the string does not begin with valid UTF-8.
struct Character {
  char32_t code = 0;
  std::size_t bytes = 0;
};

Character first_of(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return {};
  char32_t code = lead & (0x7fU >> bytes);
  for (std::size_t at = 1; at < bytes; ++at) {
    const auto next = static_cast<unsigned char>(text[at]);
    if ((next & 0xc0U) != 0x80) return {};
    code = code << 6U | (next & 0x3fU);
  }
  constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kLeast[bytes] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return {};
  return {code, bytes};
}

bool is_shown(char32_t code) {
  const bool control = code < 0x20 || (code >= 0x7f && code <= 0x9f);
  const bool direction = code == 0x61c || code == 0x200e || code == 0x200f ||
                         (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
  const bool line = code == 0x2028 || code == 0x2029;
  return !control && !direction && !line;
}

std::string shown(std::string_view text, std::size_t most, bool lines) {
  std::string made;
  while (!text.empty()) {
    const Character character = first_of(text);
    const bool kept = lines && (character.code == '\n' || character.code == '\t');
    const std::size_t bytes = character.bytes == 0 ? 1 : character.bytes;
    std::string next(text.substr(0, bytes));
    if (character.bytes == 0 || (!kept && !is_shown(character.code))) {
      next.clear();
      for (const char byte : text.substr(0, bytes))
        next += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
    }
    if (made.size() + next.size() > most) return made + "...";
    made += next;
    text.remove_prefix(bytes);
  }
  return made;
}

}  // namespace

std::string printable(std::string_view text, std::size_t most) {
  return shown(text, most, false);
}

std::string printable_lines(std::string_view text) {
  return shown(text, std::string_view::npos, true);
}

}  // namespace headcrash::base
