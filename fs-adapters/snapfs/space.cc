#include "fs-adapters/snapfs/space.h"

#include <bit>

#include "plugin/base/invariant.h"

namespace headcrash::snapfs {

void BlockSpace::take(BlockAddress address) {
  if (taken(address)) return;
  taken_[address / 64] |= std::uint64_t{1} << (address % 64);
  --free_;
}

void BlockSpace::give_back(BlockAddress address) {
  invariant(taken(address), "snapfs: a block must be in use before it is freed");
  taken_[address / 64] &= ~(std::uint64_t{1} << (address % 64));
  ++free_;
}

std::optional<BlockAddress> BlockSpace::next_free(BlockAddress near) const {
  if (free_ == 0) return std::nullopt;
  if (near >= blocks_) near = 0;
  const std::size_t words = taken_.size();
  for (std::size_t i = 0; i <= words; ++i) {
    const std::size_t word = (near / 64 + i) % words;
    std::uint64_t open = ~taken_[word];
    if (i == 0) open &= ~std::uint64_t{0} << (near % 64);
    if (open == 0) continue;
    const auto address =
        static_cast<BlockAddress>(word * 64 + static_cast<unsigned>(std::countr_zero(open)));
    if (address >= blocks_) continue;  // these are the unused bits of the last word
    return address;
  }
  return std::nullopt;
}

std::optional<BlockAddress> BlockSpace::allocate(BlockAddress near) {
  const auto address = next_free(near);
  if (address) take(*address);
  return address;
}

}  // namespace headcrash::snapfs
