// Implements the index of pending names (pending_names.h).

#include "fs-adapters/ufs/core/pending_names.h"

#include <algorithm>
#include <unordered_set>

#include "fs-adapters/ufs/core/volume.h"

namespace headcrash::ufs {
void PendingNames::note(InodeNumber inode, InodeNumber directory, std::int64_t block) {
  ++noted_;
  std::vector<PendingName>& names = names_[inode];
  const auto older = std::find_if(names.begin(), names.end(), [&](const PendingName& name) {
    return name.directory == directory && name.block == block;
  });
  if (older != names.end()) {
    older->noted = noted_;
    return;
  }
  names.push_back({.directory = directory, .block = block, .noted = noted_});
  if (++count_ >= search_at_) drop_arrived();
}

std::vector<PendingName> PendingNames::of(InodeNumber inode) const {
  const auto found = names_.find(inode);
  return found == names_.end() ? std::vector<PendingName>() : found->second;
}

std::vector<InodeNumber> PendingNames::inodes_to_sync(InodeNumber inode) const {
  std::vector<InodeNumber> way{inode};
  std::unordered_set<InodeNumber> seen{inode};
  for (const InodeNumber directory : moved_)
    if (seen.insert(directory).second) way.push_back(directory);
  for (std::size_t i = 0; i < way.size(); ++i) {
    const auto found = names_.find(way[i]);
    if (found == names_.end()) continue;
    for (const PendingName& name : found->second)
      if (seen.insert(name.directory).second) way.push_back(name.directory);
  }
  return way;
}

void PendingNames::arrived(InodeNumber inode, std::uint64_t until) {
  const auto found = names_.find(inode);
  if (found == names_.end()) return;
  count_ -=
      std::erase_if(found->second, [&](const PendingName& name) { return name.noted <= until; });
  if (!found->second.empty()) return;
  names_.erase(found);
  moved_.erase(inode);
}

void PendingNames::all_written(std::uint64_t until) {
  drop([&](const PendingName& name) { return name.noted <= until; });
}

void PendingNames::forget(InodeNumber inode) {
  const auto found = names_.find(inode);
  if (found == names_.end()) return;
  count_ -= found->second.size();
  names_.erase(found);
  moved_.erase(inode);
}

void PendingNames::forget_directory(InodeNumber directory) {
  drop([&](const PendingName& name) { return name.directory == directory; });
}

void PendingNames::drop(const std::function<bool(const PendingName&)>& gone) {
  for (auto& [inode, names] : names_) count_ -= std::erase_if(names, gone);
  std::erase_if(names_, [](const auto& one) { return one.second.empty(); });
  forget_moves();
}

void PendingNames::forget_moves() {
  std::erase_if(moved_, [&](InodeNumber directory) { return !names_.contains(directory); });
}

/// Returns true if the block with the name, or a block on the path to it from the directory's
/// inode, may not be on the disk yet. May also return true if all of them are on the disk.
bool PendingNames::unwritten(const PendingName& name) const {
  if (volume_.cache.unwritten(Volume::block_of(name.directory, name.block)) ||
      volume_.inodes.changed(name.directory) ||
      volume_.cache.unwritten(volume_.inodes.block_key(name.directory)))
    return true;
  return name.block >= kDirectPointers && volume_.cache.any_unwritten();
}

/// Drops names that are on the disk. Keeps all names of an inode if one of them is not on the disk,
/// or if the names of the inode's directory are kept.
void PendingNames::drop_arrived() {
  std::unordered_set<InodeNumber> stay;
  for (const auto& [inode, names] : names_)
    if (std::any_of(names.begin(), names.end(),
                    [&](const PendingName& name) { return unwritten(name); }))
      stay.insert(inode);
  for (std::size_t before = stay.size() + 1; before != stay.size();) {
    before = stay.size();
    for (const auto& [inode, names] : names_)
      if (std::any_of(names.begin(), names.end(),
                      [&](const PendingName& name) { return stay.contains(name.directory); }))
        stay.insert(inode);
  }
  std::erase_if(names_, [&](const auto& one) { return !stay.contains(one.first); });
  count_ = 0;
  for (const auto& [inode, names] : names_) count_ += names.size();
  forget_moves();
  search_at_ = std::max(kSearchMin, 2 * count_);
}

}  // namespace headcrash::ufs
