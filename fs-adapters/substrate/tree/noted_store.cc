#include "fs-adapters/substrate/tree/noted_store.h"

namespace headcrash::tree {

Result<void> NotedStore::read(std::uint64_t lba, std::span<std::byte> into) const {
  auto done = below_->read(lba, into);
  failed_ = failed_ || !done;
  const std::size_t count = into.size() / model::kSectorBytes;
  runs_.push_back({static_cast<std::uint32_t>(lba), static_cast<std::uint32_t>(count)});
  return done;
}

}  // namespace headcrash::tree
