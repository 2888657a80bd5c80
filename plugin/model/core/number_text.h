#pragma once
// Numbers in the text forms of cuts and faults: whole numbers and decimal milliseconds.
// Milliseconds are parsed as integers, so that the text denotes an exact instant.

#include <cstdint>
#include <string>
#include <string_view>

#include "plugin/base/result.h"
#include "plugin/model/core/simulation.h"

namespace headcrash::model {

inline constexpr std::uint64_t kCountMax = 1'000'000'000'000;
inline constexpr std::uint64_t kLbaMax = 1'000'000'000'000'000;  ///< 512 PB
inline constexpr std::uint64_t kDelayMsMax = 1'000'000'000;      ///< 11.6 days of model time

/// The allowed range of a number, and the words for its errors. `what` says what is counted or
/// measured ("the count").
struct NumberBounds {
  std::string what;
  std::uint64_t least = 0, most = 0;
  std::string hint;
};
/// Parses a whole number. The error names `subject`.
Result<std::uint64_t> parse_number(const std::string& subject, std::string_view text,
                                   const NumberBounds& bounds);

/// Parses milliseconds: "12.5" is 12 500 000 ns. At most six digits may follow the point.
Result<TimeNs> parse_milliseconds(const std::string& subject, std::string_view text);
std::string milliseconds_text(TimeNs ns);

}  // namespace headcrash::model
