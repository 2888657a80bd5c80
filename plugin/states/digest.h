#pragma once
// Content digests that can be computed from differences.
//
//   digest(image) = sum over all sectors, modulo 2^64, of hash(lba, bytes)    (zero sector: 0)
//
//   image B = image A except sectors 8..15 => digest(B) = digest(A) - sum of A's + sum of B's 8..15
//
// The digest of a crash state therefore costs only the sectors of its unflushed writes, and a
// sector never written costs nothing. The hash of a sector folds 128-bit products of its words (the
// construction of Wang Yi's wyhash). It need not resist deliberate collisions.

#include <cstddef>
#include <cstdint>
#include <span>

namespace headcrash::states {

/// Returns the contribution of whole sectors, starting at `lba`, to the digest.
std::uint64_t digest_sum(std::uint64_t lba, std::span<const std::byte> bytes);

/// Returns the contribution of unreadable sectors to the digest. The contribution of their last
/// known bytes is added separately.
std::uint64_t unreadable_sum(std::uint64_t lba, std::uint64_t sectors);

/// Returns the contribution of sectors whose contents date from before mkfs. Unlike the
/// contribution of zeroes, this contribution is never 0.
std::uint64_t prior_sum(std::uint64_t lba, std::uint64_t sectors);

/// Returns the XOR of the two halves of the 128-bit product.
std::uint64_t mix(std::uint64_t one, std::uint64_t other);

}  // namespace headcrash::states
