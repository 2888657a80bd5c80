// Phase 3 (fsck.h): every directory must be connected to the root through its parents. A directory
// without a name is moved to lost+found, or freed if it is empty. If directories form a ring, one
// of them is moved to lost+found. Once every directory has a name, each ".." must refer to the
// parent. Until then, the ".." of a directory without a name does not count as a link.

#include <fmt/core.h>

#include <vector>

#include "fs-adapters/ufs/fsck/fsck_state.h"

namespace headcrash::ufs {

using Reach = CheckedDirectory::Reach;

void Fsck::State::check_connectivity() {
  directory(kRootInode)->reach = Reach::yes;
  std::vector<CheckedDirectory*> chain;
  for (std::size_t i = 0; i < directories.size() && !again && !stopped(); ++i) {
    chain.clear();
    CheckedDirectory* at = &directories[i];
    if (type[at->inode] == 0) continue;  // the inode was freed earlier in this phase
    bool loop = false;
    while (at->reach == Reach::unknown) {
      // Preliminary value: a directory that is reached again while it has this value is part of a
      // ring.
      at->reach = Reach::no;
      chain.push_back(at);
      if (at->parent == 0) break;
      at = directory(at->parent);
      for (const CheckedDirectory* passed : chain) loop |= passed == at;
      if (loop) break;
    }
    if (chain.empty()) continue;
    const bool lost = loop || (at == chain.back() && at->parent == 0);
    if (lost) adopt(*at, loop);
    const Reach reach = lost && !repairing() ? Reach::no : at->reach;
    for (CheckedDirectory* member : chain) member->reach = reach;
  }
  if (!again && !stopped()) check_dot_dots();
}

void Fsck::State::adopt(CheckedDirectory& top, bool loop) {
  const bool empty = !loop && top.entries == 0;
  find(FindingKind::unreferenced_directory, top.inode, 0, 0,
       fmt::format("directory {}: {}; it is {}", top.inode,
                   loop ? "is its own ancestor" : "has no name",
                   empty ? "empty, so it is freed" : "put into lost+found"));
  if (!repairing()) return;
  if (empty) {
    free_inode(top.inode);
    --report.directories;
    return;
  }
  if (!put_into_lost_found(top.inode)) return;
  if (loop) {
    remove_name(top.named_block, top.named_offset);
    --names[top.inode];
    if (CheckedDirectory* const before = directory(top.parent)) --before->entries;
  }
  top.parent = lost_found;
  top.reach = Reach::yes;
}

void Fsck::State::check_dot_dots() {
  for (CheckedDirectory& d : directories) {
    if (type[d.inode] == 0 || d.parent == 0 || stopped()) continue;
    if (d.dot_dot != d.parent) {
      find(FindingKind::dot_dot_elsewhere, d.inode, 0, 0,
           fmt::format("directory {}: '..' refers to {}, but its name is in {}", d.inode, d.dot_dot,
                       d.parent));
      set_dot_dot(d, d.parent);
    }
    ++names[d.parent];
  }
}

void Fsck::State::set_dot_dot(CheckedDirectory& d, InodeNumber parent) {
  std::array<std::byte, tree::kChunkBytes> chunk = {};
  const FragmentAddress at = directory_blocks[d.first_block];
  if (!repairing() || !read(at, chunk)) return;
  const auto entry = tree::find_entry(chunk, "..");
  if (!entry) {  // not expected, because phase 2 ensures that the entry exists
    again = true;
    return;
  }
  tree::set_entry_inode(chunk, entry->offset, parent);
  write(at, chunk);
  d.dot_dot = parent;
}

}  // namespace headcrash::ufs
