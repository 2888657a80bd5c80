// Phase 4 (fsck.h): an inode's link count must equal its number of names. A file without a name is
// freed if it is empty, or if its link count is 0 (it was open when its last name was removed).
// Otherwise, it is moved to lost+found.

#include <fmt/core.h>

#include <cstring>

#include "fs-adapters/ufs/fsck/fsck_state.h"

namespace headcrash::ufs {

void Fsck::State::check_links() {
  for (InodeNumber number = kRootInode; number < geometry.inodes() && !again && !stopped();
       ++number) {
    if (number % 8 == 0 && number + 8 <= geometry.inodes()) {
      std::uint64_t eight;
      std::memcpy(&eight, type.data() + number, sizeof eight);
      if (eight == 0) {
        number += 7;
        continue;
      }
    }
    if (type[number] == 0) continue;
    if (type[number] == entry_type(kTypeDirectory)) {
      // Directories without a parent are handled by phase 3.
      if (directory(number)->parent == 0) continue;
    } else if (names[number] == 0) {
      check_file_without_name(number);
      if (names[number] == 0) continue;
    }
    const std::uint32_t found = names[number];
    if (links[number] == found) continue;
    const bool high = links[number] > found;
    find(high ? FindingKind::links_too_high : low_kind(number), number, 0,
         high ? links[number] - found : found - links[number],
         fmt::format("inode {}: has link count {}, but {} links", number, links[number], found),
         found <= kLinksMax);
    if (!repairing() || found > kLinksMax) continue;
    Inode inode = load(number);
    inode.links = static_cast<std::uint16_t>(found);
    save(number, inode);
  }
}

/// Returns the kind of finding for a link count that is too low. If the inode has a link tag, the
/// count was lowered before a name was removed. A power cut may leave this state behind, so the
/// state is not damage.
FindingKind Fsck::State::low_kind(InodeNumber number) {
  const bool tagged = !load_extension(number).live_tags(superblock.generation).empty();
  return tagged ? FindingKind::links_lowered : FindingKind::links_too_low;
}

/// Handles a file without a name. If the file is not empty, and has lost more names than its link
/// tags account for, moves it to lost+found. Otherwise, frees it.
void Fsck::State::check_file_without_name(InodeNumber number) {
  const Inode inode = load(number);
  std::int64_t names_lost = inode.links;
  const InodeExtension beside = load_extension(number);
  for (const LinkTag& tag : beside.live_tags(superblock.generation))
    names_lost -= tag.entries * tag.links;
  if (stopped()) return;
  const bool keep = names_lost > 0 && inode.size_bytes != 0;
  find(FindingKind::unreferenced_file, number, 0, inode.links,
       fmt::format("inode {}: has no name; {}", number, keep ? "put into lost+found" : "freed"));
  if (!repairing()) return;
  if (keep) {
    put_into_lost_found(number);
  } else {
    free_inode(number);
    --report.files;
  }
}

}  // namespace headcrash::ufs
