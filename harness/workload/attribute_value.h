#pragma once
// Values of extended attributes: how a list spells them and how a dump reports them.
//
//   text         a word without blanks, as it is
//   0xHEX        any bytes; 0x alone is an empty value (as setfattr and getfattr have it)
//   fill:N[:K]   N bytes of pattern K, 0 (the default) to 25

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace headcrash::workload {

inline constexpr std::size_t kAttributeValueMost = 64 << 10;  ///< XATTR_SIZE_MAX of Linux
inline constexpr std::size_t kAttributeNameMost = 255;

/// Nothing: not well-formed, or longer than kAttributeValueMost.
std::optional<std::string> parse_attribute_value(std::string_view word);
/// The inverse: one word.
std::string format_attribute_value(std::string_view value);

/// "user.", "trusted.", "security." or "system." and at least one character.
bool is_attribute_name(std::string_view name);
/// The kernel may set attributes of the namespace itself.
bool is_kernels_attribute(std::string_view name);

/// A short value unchanged; for a long one its length and a checksum. Equal for equal values.
std::string reported_attribute_value(std::string_view value);

// Limits of a dump for the attributes of one object. Lists leave room for those that the kernel
// sets itself, so a dump always has everything that a list has set.
inline constexpr std::size_t kReportedAttributesMost = 4096;
inline constexpr std::size_t kReportedAttributeBytesMost = 256 << 10;
inline constexpr std::size_t kKernelsAttributesMost = 16, kKernelsAttributeBytesMost = 4 << 10;
inline constexpr std::size_t kAttributeNamesMost = 64 << 10;  ///< XATTR_LIST_MAX, NULs included

/// A dump has it in `attributes`; otherwise it is in `attributes-hex`.
bool is_reported_as_text(std::string_view reported);
/// Bytes of an entry of a dump for this name and reported value.
std::size_t reported_attribute_bytes(std::string_view name, std::string_view reported);

}  // namespace headcrash::workload
