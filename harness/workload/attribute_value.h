#pragma once
// Values of extended attributes, as they appear in lists and in dumps.
//
//   text         a word without blanks, taken literally
//   0xHEX        arbitrary bytes; 0x alone is an empty value (as in setfattr and getfattr)
//   fill:N[:K]   N bytes of pattern K, where K is from 0 (the default) to 25

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace headcrash::workload {

inline constexpr std::size_t kAttributeValueMost = 64 << 10;  ///< XATTR_SIZE_MAX of Linux
inline constexpr std::size_t kAttributeNameMost = 255;

/// Parses a value. Returns nullopt if `word` is malformed or if the value is longer than
/// kAttributeValueMost.
std::optional<std::string> parse_attribute_value(std::string_view word);
/// Formats a value as a single word. This is the inverse of parse_attribute_value().
std::string format_attribute_value(std::string_view value);

/// Returns true if the name is "user.", "trusted.", "security." or "system.", followed by at least
/// one character.
bool is_attribute_name(std::string_view name);
/// Returns true if the name is in a namespace in which the kernel may set attributes itself.
bool is_kernels_attribute(std::string_view name);

/// Returns a value in the form in which a dump reports it: a short value unchanged, a long one as
/// its length and checksum. Equal values give equal results.
std::string reported_attribute_value(std::string_view value);

// Limits for the attributes that a dump reports for one object. The limits for a workload are
// lower, because the kernel may add attributes. A dump thus always reports all attributes that the
// workload has set.
inline constexpr std::size_t kReportedAttributesMost = 4096;
inline constexpr std::size_t kReportedAttributeBytesMost = 256 << 10;
inline constexpr std::size_t kKernelsAttributesMost = 16, kKernelsAttributeBytesMost = 4 << 10;
inline constexpr std::size_t kAttributeNamesMost = 64 << 10;  ///< XATTR_LIST_MAX, including NULs

/// Returns true if a dump stores the value in the field `attributes`, and false for the field
/// `attributes-hex`.
bool is_reported_as_text(std::string_view reported);
/// Returns the number of bytes that a dump needs for the attribute `name` with the value
/// `reported`.
std::size_t reported_attribute_bytes(std::string_view name, std::string_view reported);

}  // namespace headcrash::workload
