#include "fs-adapters/snapfs/generation.h"

namespace headcrash::snapfs {

std::size_t Generation::bytes_in_core() const {
  // Estimated memory for one element of a set or map.
  constexpr std::size_t kAddressBytes = 32;
  return (born.size() + freed.size() + outstanding.size() + record_leaves.size() +
          numbers_born.size() + numbers_freed.size()) *
             kAddressBytes +
         inodes.size() * (kInodeBytes + kAddressBytes);
}

void Generation::continue_after(const Generation& older) {
  for (const BlockAddress address : older.born)
    if (!freed.contains(address)) born.insert(address);
  freed.insert(older.freed.begin(), older.freed.end());
  inodes.insert(older.inodes.begin(), older.inodes.end());
  record_leaves.insert(older.record_leaves.begin(), older.record_leaves.end());
  for (const InodeNumber inode : older.numbers_born)
    if (!numbers_freed.contains(inode)) numbers_born.insert(inode);
  numbers_freed.insert(older.numbers_freed.begin(), older.numbers_freed.end());
}

}  // namespace headcrash::snapfs
