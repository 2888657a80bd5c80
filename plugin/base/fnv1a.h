#pragma once
// FNV-1a, 64 bits: a hash function whose results are the same on every machine. Not for untrusted
// input.

#include <cstdint>
#include <span>
#include <string_view>

namespace headcrash::base {

inline constexpr std::uint64_t kFnvBasis = 0xcbf29ce484222325;

/// Returns the hash of the bytes. To hash data in pieces, pass each result as `hash` of the next
/// call.
inline std::uint64_t fnv1a(std::span<const std::byte> bytes, std::uint64_t hash = kFnvBasis) {
  for (const std::byte byte : bytes)
    hash = (hash ^ static_cast<std::uint64_t>(byte)) * 0x100000001b3;
  return hash;
}
inline std::uint64_t fnv1a(std::string_view text, std::uint64_t hash = kFnvBasis) {
  return fnv1a(std::as_bytes(std::span(text)), hash);
}

}  // namespace headcrash::base
