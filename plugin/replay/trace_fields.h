#pragma once
// Fields of a trace line (trace_format.h).
//
// Times are parsed as decimal fractions into nanoseconds, without floating point: 62.687285 ms is
// 62687285 ns. Digits below one nanosecond are rounded.

#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <string_view>

#include "plugin/replay/trace_format.h"

namespace headcrash::replay {

constexpr std::uint32_t kBlocksMax = 1U << 20;
constexpr std::uint64_t kLbnMax = std::uint64_t{1} << 62U;

constexpr const char* kTimeHint =
    "write a decimal number such as 62.687285, without sign or exponent";
constexpr ParseError kTooManyVolumes{"exceeds the limit of 65536 volumes",
                                     "replay part of the trace"};
constexpr ParseError kBytes{"the offset or the length is not a whole number of bytes",
                            "count offsets from 0; a request has 1 byte to 512 MiB"};

inline bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}
inline bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

template <typename Number>
std::optional<Number> number_of(std::string_view text, Number max) {
  Number value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || value > max || rest != text.data() + text.size()) return std::nullopt;
  return value;
}

struct ParsedTime {
  enum class State : std::uint8_t { good, no_number, too_large } state = State::no_number;
  TimeNs ns = 0;
  explicit operator bool() const { return state == State::good; }
};

/// Parses a decimal number in units of `unit_ns`, which must be a power of ten.
ParsedTime time_of(std::string_view text, TimeNs unit_ns);

/// The words of a line, separated by blanks.
class Words {
 public:
  explicit Words(std::string_view line) : at_(line.data()), end_(line.data() + line.size()) {
    skip();
  }
  bool at_end() const { return at_ == end_; }
  std::string_view next() {
    const char* const from = at_;
    while (at_ != end_ && !is_blank(*at_)) ++at_;
    const std::string_view found(from, static_cast<std::size_t>(at_ - from));
    skip();
    return found;
  }
  std::string_view rest() const { return {at_, static_cast<std::size_t>(end_ - at_)}; }

 private:
  void skip() {
    while (at_ != end_ && is_blank(*at_)) ++at_;
  }
  const char* at_;
  const char* end_;
};

/// The comma-separated fields of a line, without surrounding blanks.
struct CommaFields {
  static constexpr std::size_t kMax = 8;
  explicit CommaFields(std::string_view line);
  std::string_view operator[](std::size_t i) const { return fields[i]; }

  std::array<std::string_view, kMax> fields;
  std::size_t count = 0;  ///< number of fields, including those beyond kMax
};

/// Sets `into` to the blocks that a byte range touches. Returns false if a number is invalid, or if
/// the range is empty or too large.
bool blocks_of_bytes(std::string_view offset, std::string_view length, TraceRequest& into);

/// Sets a request's arrival time. Returns an error if the text is invalid.
std::optional<ParseError> parse_arrival(std::string_view text, TimeNs unit_ns, TraceRequest& into);

}  // namespace headcrash::replay
