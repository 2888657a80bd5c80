#pragma once
// Hashes text to a number that is the same on every machine and with every library. Used for the
// seeds of trials and for digests of configurations.

#include <cstdint>
#include <string_view>

#include "plugin/base/fnv1a.h"

namespace headcrash::run {

/// Computes the FNV-1a hash and mixes it with the finaliser of SplitMix64.
inline std::uint64_t hash_text(std::string_view text, std::uint64_t seed) {
  std::uint64_t hash = base::fnv1a(text, base::kFnvBasis ^ seed);
  hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9;
  hash = (hash ^ (hash >> 27)) * 0x94d049bb133111eb;
  return hash ^ (hash >> 31);
}

}  // namespace headcrash::run
