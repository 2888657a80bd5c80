// Phase 1b (fsck.h): a block that is claimed by two files stays with one of them. All files claim
// their blocks again, on an empty map, in order of preference. Directories come first, because more
// depends on them than on files. Among the directories, and among the files, the most recently
// changed inode comes first, because the block was probably allocated to it last. Later claimants
// get a hole.

#include <fmt/core.h>

#include <algorithm>
#include <tuple>

#include "fs-adapters/ufs/fsck/fsck_state.h"

namespace headcrash::ufs {

void Fsck::State::resolve_duplicates() {
  struct Claimant {
    InodeNumber number;
    bool directory;
    Timestamp changed_at;
  };
  std::vector<Claimant> claimants;
  for (InodeNumber number = kRootInode; number < geometry.inodes(); ++number) {
    if (type[number] == 0) continue;
    const Inode inode = load(number);
    if (stopped()) return;
    claimants.push_back({number, inode.is_directory(), inode.changed});
  }
  std::sort(claimants.begin(), claimants.end(), [](const Claimant& a, const Claimant& b) {
    const auto rank = [](const Claimant& c) {
      return std::tuple(c.number != kRootInode, !c.directory, -std::int64_t{c.changed_at.seconds},
                        -std::int64_t{c.changed_at.nanoseconds}, c.number);
    };
    return rank(a) < rank(b);
  });
  reset_map();
  for (const Claimant& claimant : claimants) {
    reclaim(claimant.number);
    if (stopped()) return;
  }
  again = repairing();
}

void Fsck::State::reclaim(InodeNumber number) {
  CheckedInode checked = load_with_bmap(number);
  Inode& inode = checked.inode;
  if (pointers_are_text(inode, geometry.inline_target_max())) return;
  const std::uint64_t end = geometry.blocks_of_size(inode.size_bytes);
  std::uint32_t fragments = 0;
  walk(checked, [&](const FilePointer& p) {
    if (p.block >= end || !data_run(p.at, p.fragments)) return Verdict::clear;
    if (map.taken(p.at, p.fragments)) {
      find(FindingKind::duplicate_block, number, p.at, p.fragments,
           fmt::format("inode {}: fragment {} also belongs to another file", number, p.at));
      return Verdict::clear;
    }
    map.claim(p.at, p.fragments);
    fragments += p.fragments;
    return Verdict::follow;
  });
  if (!checked.changed && !checked.bmap_changed) return;
  inode.sectors = fragments * geometry.sectors_per_fragment();
  save_with_bmap(number, checked);
}

}  // namespace headcrash::ufs
