#pragma once
// Formats numbers with three significant digits, in the unit that makes the text shortest.

#include <cstdint>
#include <string>

namespace headcrash::report {

std::string milliseconds(double ms);  ///< "850 µs", "12.3 ms", "4.56 s"
/// formats like milliseconds(), but takes microseconds
std::string microseconds(double us);
std::string bytes(double count);             ///< "512 B", "12.3 MiB"
std::string percent(double share);           ///< 0.034 -> "3.4 %"
std::string duration(std::int64_t seconds);  ///< "4 min 10 s"

}  // namespace headcrash::report
