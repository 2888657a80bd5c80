#include "fs-adapters/lfs/summarized_blocks.h"

namespace headcrash::lfs {

void SummarizedBlocks::add(const SummaryEntry& entry, SectorAddress address) {
  if (++entries_ > kEntriesMax) return files_.clear();
  File& file = files_[entry.inode];
  if (file.version != entry.version) file = {.version = entry.version, .blocks = {}, .later = {}};
  file.later[entry.block()] = {address, entry.sectors};
}

void SummarizedBlocks::inode_follows(InodeNumber number) {
  const auto found = files_.find(number);
  if (found == files_.end()) return;
  File& file = found->second;
  for (const auto& [block, place] : file.later) file.blocks[block] = place;
  file.later.clear();
}

const SummarizedBlocks::Blocks* SummarizedBlocks::all_of(const Inode& inode) const {
  const auto found = files_.find(inode.number);
  if (found == files_.end() || found->second.version != inode.version) return nullptr;
  const Blocks& blocks = found->second.blocks;
  std::uint64_t sectors = 0;
  for (const auto& [block, place] : blocks) sectors += place.sectors;
  if (sectors != inode.sectors) return nullptr;
  for (std::uint32_t i = 0; i < kPointers; ++i) {
    const auto block = blocks.find(block_of_pointer(i));
    if (inode.pointers[i] != (block == blocks.end() ? 0 : block->second.address)) return nullptr;
  }
  return &blocks;
}

}  // namespace headcrash::lfs
