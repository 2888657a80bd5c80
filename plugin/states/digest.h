#pragma once
// Content digests that can be computed from differences.
//
//   digest(image) = sum over all sectors, modulo 2^64, of hash(lba, bytes)       a sector of zeroes counts 0
//
//   image B = image A, but sectors 8..15 other  =>  digest(B) = digest(A) - sum of A's 8..15 + sum of
//   B's 8..15
//
// so that a crash state costs only what its unflushed writes touch, and one that was never written
// costs nothing. The hash of a sector folds 128-bit products of its words (the construction of Wang
// Yi's wyhash); it is no defence against somebody who looks for collisions, and need not be.

#include <cstddef>
#include <cstdint>
#include <span>

namespace headcrash::states {

/// Of whole sectors that lie one after the other from `lba` on.
std::uint64_t digest_sum(std::uint64_t lba, std::span<const std::byte> bytes);

/// What sectors that cannot be read add, on top of what is known of their bytes.
std::uint64_t unreadable_sum(std::uint64_t lba, std::uint64_t sectors);

/// What sectors add that hold bytes from before mkfs: never nothing, as zeroes do.
std::uint64_t prior_sum(std::uint64_t lba, std::uint64_t sectors);

/// One number from two.
std::uint64_t mix(std::uint64_t one, std::uint64_t other);

}  // namespace headcrash::states
