// Damages inodes and the targets of their pointers (damage.h).
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "fs-adapters/ufs/damage/damage.h"

namespace headcrash::ufs::damage {
namespace {

using ufs::FragmentAddress;
using ufs::Inode;
using ufs::InodeNumber;

constexpr std::uint16_t kNoType = 0170000;

void say_inode(Damaging& image, InodeNumber number) {
  image.say(fmt::format("inode {}", number));
}

bool is_ordinary(InodeNumber number) {
  return number != ufs::kRootInode;
}

/// Returns an inode's runs. If `pointers` is set, returns only those that contain pointers.
std::vector<std::size_t> runs_with(const Damaging& image, InodeNumber number, bool pointers) {
  std::vector<std::size_t> found = image.survey().runs_of(number);
  if (pointers)
    std::erase_if(found, [&](std::size_t run) { return image.survey().runs()[run].level == 0; });
  return found;
}
bool has_runs(const Damaging& image, InodeNumber number) {
  return !image.survey().runs_of(number).empty();
}

/// Selects a run of an undamaged inode. With a probability of 1/3, selects a run of pointers if
/// there is one.
std::optional<std::size_t> take_run(Damaging& image, const Damaging::Suits& suits) {
  const bool pointers = image.one_in(3);
  for (const bool with : {pointers, !pointers}) {
    const InodeNumber number = image.take_inode([&](InodeNumber n) {
      return is_ordinary(n) && suits(n) && !runs_with(image, n, with).empty();
    });
    if (number == 0) continue;
    const auto runs = runs_with(image, number, with);
    return runs[image.below(runs.size())];
  }
  return {};
}
bool any(InodeNumber) {
  return true;
}
void say_run(Damaging& image, const OwnedRun& run, FragmentAddress to) {
  image.say(fmt::format("inode {}, block {}, level {}: pointer changed from {} to {}", run.owner,
                        run.block, run.level, run.at, to));
}

bool apply_cleared(Damaging& image) {
  const InodeNumber number = image.take_inode(is_ordinary);
  if (number == 0) return false;
  image.change_inode(number, [](Inode& inode) { inode = {}; });
  image.lose_inode(number);
  say_inode(image, number);
  return true;
}

bool apply_without_mode(Damaging& image) {
  const InodeNumber number = image.take_inode(
      [&](InodeNumber n) { return is_ordinary(n) && image.survey().inode(n).size_bytes > 0; });
  if (number == 0) return false;
  image.change_inode(number, [](Inode& inode) { inode.mode = 0; });
  image.lose_inode(number);
  say_inode(image, number);
  return true;
}

bool apply_pointers_of_a_free_one(Damaging& image) {
  const InodeNumber number = image.take_free_inode();
  if (number == 0) return false;
  const auto& runs = image.survey().runs();
  const FragmentAddress at = runs.empty() ? 1 : runs[image.below(runs.size())].at;
  const std::uint64_t where = image.below(4);
  image.change_inode(number, [&](Inode& inode) {
    inode.mode = 0;
    if (where == 0) inode.size_bytes = 77;
    if (where == 1) inode.direct[0] = at;
    if (where == 2) inode.direct[11] = at;
    if (where == 3) inode.indirect[2] = at;
  });
  say_inode(image, number);
  return true;
}

bool apply_no_type(Damaging& image) {
  const InodeNumber number = image.take_inode(is_ordinary);
  if (number == 0) return false;
  image.change_inode(number, [](Inode& inode) { inode.mode |= kNoType; });
  image.lose_inode(number);
  say_inode(image, number);
  return true;
}

bool apply_no_root(Damaging& image) {
  // Without a root, a repair may lose almost everything, so this kind of damage proves little. It
  // is applied in only one of three trials.
  if (!image.one_in(3)) return false;
  if (image.take_inode([](InodeNumber n) { return n == ufs::kRootInode; }) == 0) return false;
  const bool file = image.one_in(2);
  image.change_inode(ufs::kRootInode, [&](Inode& inode) {
    if (file) {
      inode.mode = ufs::kTypeRegular | 0644;
    } else {
      inode = {};
    }
  });
  image.lose_inode(ufs::kRootInode);
  if (file) image.contend(ufs::kRootInode);
  say_inode(image, ufs::kRootInode);
  return true;
}

bool apply_other_type(Damaging& image) {
  constexpr std::array kTypes{ufs::kTypeDirectory, ufs::kTypeRegular, ufs::kTypeSymlink,
                              ufs::kTypeFifo,      ufs::kTypeSocket,  ufs::kTypeCharacter,
                              ufs::kTypeBlock};
  const InodeNumber number = image.take_inode(is_ordinary);
  if (number == 0) return false;
  const std::uint16_t before = image.load(number).mode;
  std::uint16_t type = before & ufs::kTypeMask;
  while (type == (before & ufs::kTypeMask)) type = kTypes.at(image.below(kTypes.size()));
  image.change_inode(number, [&](Inode& inode) { inode.mode = (before & ~ufs::kTypeMask) | type; });
  image.lose_inode(number);
  image.may().other_names[number] = true;
  image.contend(number);
  image.say(fmt::format("inode {}: mode changed from {:o} to {:o}", number, before,
                        image.load(number).mode));
  return true;
}

bool apply_more_links(Damaging& image) {
  const InodeNumber number = image.take_inode(any);
  if (number == 0) return false;
  const auto more = static_cast<std::uint16_t>(1 + image.below(image.one_in(2) ? 3 : 30000));
  image.change_inode(number, [&](Inode& inode) { inode.links += more; });
  image.say(fmt::format("inode {}: link count increased by {}", number, more));
  return true;
}

bool apply_fewer_links(Damaging& image) {
  const InodeNumber number = image.take_inode(any);
  if (number == 0) return false;
  const auto left = static_cast<std::uint16_t>(image.below(image.load(number).links));
  image.change_inode(number, [&](Inode& inode) { inode.links = left; });
  image.may().no_links[number] = left == 0;
  image.say(fmt::format("inode {}: link count reduced to {}", number, left));
  return true;
}

bool apply_more_sectors(Damaging& image) {
  const InodeNumber number = image.take_inode([&](InodeNumber n) { return has_runs(image, n); });
  if (number == 0) return false;
  const auto more = static_cast<std::uint32_t>(1 + image.below(100));
  image.change_inode(number, [&](Inode& inode) { inode.sectors += more; });
  image.say(fmt::format("inode {}: sector count increased by {}", number, more));
  return true;
}

bool apply_fewer_sectors(Damaging& image) {
  const InodeNumber number = image.take_inode([&](InodeNumber n) { return has_runs(image, n); });
  if (number == 0) return false;
  const auto left = static_cast<std::uint32_t>(image.below(image.load(number).sectors));
  image.change_inode(number, [&](Inode& inode) { inode.sectors = left; });
  image.say(fmt::format("inode {}: sector count reduced to {}", number, left));
  return true;
}

bool apply_endless_size(Damaging& image) {
  const InodeNumber number = image.take_inode(
      [&](InodeNumber n) { return is_ordinary(n) && !image.survey().inode(n).is_symlink(); });
  if (number == 0) return false;
  const std::uint64_t most = image.geometry().file_blocks_max() * image.geometry().block_bytes();
  const std::uint64_t size = image.one_in(2) ? most + 1 + image.below(1000) : ~image.below(1000);
  image.change_inode(number, [&](Inode& inode) { inode.size_bytes = size; });
  image.lose_inode(number);
  image.say(fmt::format("inode {}: size changed to {} bytes", number, size));
  return true;
}

/// Increases the size in an inode. The file's last block may then overlap another file's fragments.
bool apply_larger_size(Damaging& image) {
  const InodeNumber number = image.take_inode([&](InodeNumber n) {
    const Inode& inode = image.survey().inode(n);
    return is_ordinary(n) && (inode.is_regular() || inode.is_directory());
  });
  if (number == 0) return false;
  const Inode before = image.load(number);
  const std::uint64_t more = 1 + image.below(3 * std::uint64_t{image.geometry().block_bytes()});
  image.change_inode(number, [&](Inode& inode) { inode.size_bytes += more; });
  for (const std::size_t run : image.survey().runs_of(number)) {
    const OwnedRun& last = image.survey().runs()[run];
    if (before.is_regular() && last.level == 0 &&
        last.block + 1 == image.geometry().blocks_of_size(before.size_bytes))
      image.lose_run(run);
  }
  image.may().other_size[number] = true;
  if (before.is_directory()) {
    // If the directory's last block is invalid at its new length, the block's contents are lost.
    const std::uint64_t blocks = image.geometry().blocks_of_size(before.size_bytes);
    for (const std::size_t run : image.survey().runs_of(number))
      if (image.survey().runs()[run].block + 1 >= blocks && image.survey().runs()[run].level == 0)
        image.lose_run(run);
    image.may().other_names[number] = true;
  }
  image.contend(number);
  image.say(fmt::format("inode {}: size changed from {} to {} bytes", number, before.size_bytes,
                        before.size_bytes + more));
  return true;
}

bool apply_smaller_size(Damaging& image) {
  const ufs::Geometry& geometry = image.geometry();
  const InodeNumber number = image.take_inode([&](InodeNumber n) {
    const Inode& inode = image.survey().inode(n);
    return is_ordinary(n) && (inode.is_regular() || inode.is_directory()) && inode.size_bytes > 0;
  });
  if (number == 0) return false;
  const Inode before = image.load(number);
  const std::uint64_t size = image.below(before.size_bytes);
  image.change_inode(number, [&](Inode& inode) { inode.size_bytes = size; });
  image.may().other_size[number] = true;
  image.may().other_pointers[number] = kAllPointers;
  if (before.is_directory()) {
    image.lose_names(number,
                     (size + ufs::kSectorBytes - 1) / ufs::kSectorBytes * ufs::kSectorBytes);
    if (size == 0) image.lose_inode(number);
  } else {
    const std::uint32_t in_fragment = geometry.sectors_per_fragment();
    for (const std::size_t i : image.survey().runs_of(number)) {
      const OwnedRun& run = image.survey().runs()[i];
      const std::uint64_t start = run.block * geometry.block_bytes();
      std::uint64_t kept =
          run.level == 0 && start < size ? geometry.fragments_of_block(size, run.block) : 0;
      if (start + geometry.blocks_below(run.level) * geometry.block_bytes() <= size)
        kept = run.fragments;
      for (std::uint64_t f = run.at + kept; f < run.at + run.fragments; ++f)
        for (std::uint32_t s = 0; s < in_fragment; ++s)
          image.may().other_bytes[f * in_fragment + s] = true;
    }
  }
  image.say(
      fmt::format("inode {}: size changed from {} to {} bytes", number, before.size_bytes, size));
  return true;
}

/// Changes a symbolic link's size, so that an inline target is interpreted as pointers or vice
/// versa.
bool apply_other_target_size(Damaging& image) {
  const InodeNumber number =
      image.take_inode([&](InodeNumber n) { return image.survey().inode(n).is_symlink(); });
  if (number == 0) return false;
  const std::uint32_t most = image.geometry().inline_target_max();
  const bool is_text = image.load(number).size_bytes < most;
  image.change_inode(number, [&](Inode& inode) {
    inode.size_bytes = is_text ? most + image.below(5000) : 1 + image.below(most - 1);
  });
  for (const std::size_t run : image.survey().runs_of(number)) image.lose_run(run);
  image.may().other_size[number] = true;
  image.may().other_pointers[number] = kAllPointers;
  image.contend(number);
  say_inode(image, number);
  return true;
}

bool lead(Damaging& image, const std::function<FragmentAddress(const OwnedRun&)>& where) {
  const auto number = take_run(image, any);
  if (!number) return false;
  const OwnedRun& run = image.survey().runs()[*number];
  const FragmentAddress to = where(run);
  if (to == 0) return false;
  image.change_pointer(run, to);
  image.lose_run(*number);
  if (image.survey().inode(run.owner).is_directory()) image.may().other_names[run.owner] = true;
  image.contend(run.owner);
  say_run(image, run, to);
  return true;
}

bool apply_pointer_to_metadata(Damaging& image) {
  return lead(image, [&](const OwnedRun&) {
    const ufs::Geometry& geometry = image.geometry();
    const auto group = static_cast<std::uint32_t>(image.below(geometry.groups()));
    switch (image.below(3)) {
      case 0:
        return geometry.header(group);
      case 1:
        return geometry.inode_table(group);
      default:
        return geometry.replica(group);
    }
  });
}

bool apply_pointer_outside(Damaging& image) {
  return lead(image, [&](const OwnedRun&) {
    const std::uint32_t end = image.geometry().size_fragments();
    const std::array<FragmentAddress, 4> all{
        end, end + 8, 0xffffffffU, static_cast<FragmentAddress>(0x80000000U + image.below(end))};
    return all.at(image.below(all.size()));
  });
}

bool apply_pointer_to_free(Damaging& image) {
  return lead(image, [&](const OwnedRun&) { return image.take_free_block(); });
}

/// Makes a pointer refer to another file's block. With a probability of 2/3, the damaged file has
/// the older change time.
bool apply_pointer_to_other(Damaging& image) {
  const ufs::Geometry& geometry = image.geometry();
  const bool later = !image.one_in(3);
  return lead(image, [&](const OwnedRun& run) -> FragmentAddress {
    const auto changed = [&](InodeNumber n) {
      const ufs::Timestamp& at = image.survey().inode(n).changed;
      return std::pair(at.seconds, at.nanoseconds);
    };
    std::vector<FragmentAddress> suitable;
    for (const OwnedRun& other : image.survey().runs()) {
      const std::uint32_t width = geometry.fragments_per_block();
      if (other.owner == run.owner || other.at % width + run.fragments > width) continue;
      if (!image.is_taken(other.owner) && (!later || changed(other.owner) > changed(run.owner)))
        suitable.push_back(other.at);
    }
    return suitable.empty() ? 0 : suitable[image.below(suitable.size())];
  });
}

bool apply_pointer_to_own(Damaging& image) {
  std::optional<std::size_t> target;
  const bool applied = lead(image, [&](const OwnedRun& run) -> FragmentAddress {
    const std::uint32_t width = image.geometry().fragments_per_block();
    std::vector<std::size_t> suitable;
    for (const std::size_t i : image.survey().runs_of(run.owner)) {
      const OwnedRun& other = image.survey().runs()[i];
      // Excludes the blocks below the old target of the pointer, because they have just lost their
      // owner.
      const bool below = other.level < run.level && other.block >= run.block &&
                         other.block - run.block < image.geometry().blocks_below(run.level);
      if (!below && other.at != run.at && other.at % width + run.fragments <= width)
        suitable.push_back(i);
    }
    if (suitable.empty()) return 0;
    target = suitable[image.below(suitable.size())];
    return image.survey().runs()[*target].at;
  });
  if (applied) image.lose_run(*target);
  return applied;
}

bool apply_pointer_behind_end(Damaging& image) {
  const ufs::Geometry& geometry = image.geometry();
  const InodeNumber number = image.take_inode([&](InodeNumber n) {
    const Inode& inode = image.survey().inode(n);
    return (inode.is_regular() || inode.is_directory()) &&
           geometry.blocks_of_size(inode.size_bytes) <= geometry.blocks_within(1);
  });
  if (number == 0) return false;
  const Inode before = image.load(number);
  const std::uint64_t blocks = geometry.blocks_of_size(before.size_bytes);
  const auto& runs = image.survey().runs();
  const FragmentAddress to = runs[image.below(runs.size())].at;
  const bool direct = blocks < ufs::kDirectPointers && !image.one_in(3);
  image.change_inode(number, [&](Inode& inode) {
    if (direct) {
      inode.direct.at(blocks + image.below(ufs::kDirectPointers - blocks)) = to;
    } else {
      inode.indirect[2] = to;
    }
  });
  image.say(fmt::format("inode {}: a pointer refers to fragment {}", number, to));
  return true;
}

bool apply_noise_for_pointers(Damaging& image) {
  const InodeNumber number =
      image.take_inode([&](InodeNumber n) { return !runs_with(image, n, true).empty(); });
  if (number == 0) return false;
  const auto runs = runs_with(image, number, true);
  const std::size_t run = runs[image.below(runs.size())];
  const ufs::Geometry& geometry = image.geometry();
  image.change(geometry.lba_of(image.survey().runs()[run].at),
               geometry.block_bytes() / ufs::kSectorBytes,
               [&](std::span<std::byte> bytes) { image.fill_with_noise(bytes); });
  // Only the bytes of the block are damaged, so a file must keep its pointer to the block. A
  // directory may lose the block.
  const auto pointers = image.may().other_pointers[number];
  image.lose_run(run);
  if (image.survey().inode(number).is_directory()) {
    image.may().other_names[number] = true;
  } else {
    image.may().other_pointers[number] = pointers;
  }
  image.contend(number);
  say_inode(image, number);
  return true;
}

/// Copies one inode over another. Both then claim the same blocks and have the same change time.
bool apply_copy_over(Damaging& image) {
  const auto is_file = [&](InodeNumber n) { return image.survey().inode(n).is_regular(); };
  const InodeNumber number = image.take_inode(is_file);
  if (number == 0) return false;
  const InodeNumber from =
      image.take_inode([&](InodeNumber n) { return is_file(n) && has_runs(image, n); });
  if (from == 0) return false;
  const Inode copy = image.load(from);
  image.change_inode(number, [&](Inode& inode) { inode = copy; });
  image.lose_inode(number);
  image.contend(number);
  image.say(fmt::format("inode {} copied over inode {}", from, number));
  return true;
}

bool apply_noise_for_inodes(Damaging& image) {
  const InodeNumber number = image.take_inode(is_ordinary);
  if (number == 0) return false;
  constexpr InodeNumber kInSector = ufs::kSectorBytes / ufs::kInodeBytes;
  const InodeNumber first = number / kInSector * kInSector;
  if (first <= ufs::kRootInode) return false;
  for (InodeNumber n = first; n < first + kInSector; ++n)
    if (n != number && image.is_taken(n)) return false;
  const ufs::InodePlace place = image.geometry().place_of(first);
  image.change(image.geometry().lba_of(place.block) + place.offset / ufs::kSectorBytes, 1,
               [&](std::span<std::byte> bytes) { image.fill_with_noise(bytes); });
  for (InodeNumber n = first; n < first + kInSector; ++n) {
    image.take(n);
    image.lose_inode(n);
    image.may().other_names[n] = true;
    image.contend(n);
  }
  image.say(fmt::format("inodes {} to {} overwritten", first, first + kInSector - 1));
  return true;
}

/// Creates an inode that owns all free blocks and has no name.
bool apply_hoarder(Damaging& image) {
  const ufs::Geometry& geometry = image.geometry();
  const InodeNumber number = image.take_free_inode();
  if (number == 0) return false;
  const std::uint32_t pointers = geometry.pointers_per_block();
  Inode hoarder{{.mode = ufs::kTypeRegular | 0600, .links = 1}};
  const auto take = [&] {
    const FragmentAddress at = image.take_free_block();
    if (at != 0)
      hoarder.sectors += geometry.fragments_per_block() * geometry.sectors_per_fragment();
    return at;
  };
  std::uint64_t blocks = 0;
  for (FragmentAddress& at : hoarder.direct)
    if ((at = take()) != 0) ++blocks;
  // Fills the single indirect block, then the double indirect block and the blocks below it. A
  // small disk does not have enough blocks for the latter.
  const auto fill = [&](FragmentAddress holder) {
    image.change(geometry.lba_of(holder), geometry.block_bytes() / ufs::kSectorBytes,
                 [&](std::span<std::byte> bytes) {
                   std::ranges::fill(bytes, std::byte{0});
                   for (std::uint32_t i = 0; i < pointers; ++i) {
                     const FragmentAddress at = take();
                     if (at == 0) return;
                     const auto word = std::as_bytes(std::span(&at, 1));
                     std::ranges::copy(word, bytes.begin() + std::ptrdiff_t{4} * i);
                     ++blocks;
                   }
                 });
  };
  if ((hoarder.indirect[0] = take()) != 0) fill(hoarder.indirect[0]);
  if ((hoarder.indirect[1] = take()) != 0) {
    const FragmentAddress top = hoarder.indirect[1];
    std::vector<FragmentAddress> holders;
    for (std::uint32_t i = 0; i < pointers; ++i) {
      const FragmentAddress at = take();
      if (at == 0) break;
      holders.push_back(at);
      fill(at);
    }
    image.change(geometry.lba_of(top), geometry.block_bytes() / ufs::kSectorBytes,
                 [&](std::span<std::byte> bytes) {
                   std::ranges::fill(bytes, std::byte{0});
                   std::ranges::copy(std::as_bytes(std::span(holders)), bytes.begin());
                 });
  }
  if (blocks == 0) return false;
  hoarder.size_bytes = (hoarder.indirect[1] != 0   ? geometry.blocks_within(2)
                        : hoarder.indirect[0] != 0 ? geometry.blocks_within(1)
                                                   : ufs::kDirectPointers) *
                       geometry.block_bytes();
  image.change_inode(number, [&](Inode& inode) { inode = hoarder; });
  image.may().made[number] = hoarder;
  image.say(fmt::format("inode {}: owns {} blocks", number, blocks));
  return true;
}

}  // namespace

std::span<const DamageKind> damage_of_inodes() {
  using enum ufs::FindingKind;
  static constexpr std::array kKinds = std::to_array<DamageKind>({
      {"inode-cleared", dangling_entry, apply_cleared},
      {"inode-without-mode", partly_allocated, apply_without_mode},
      {"free-inode-with-pointers", partly_allocated, apply_pointers_of_a_free_one},
      {"inode-of-no-type", bad_mode, apply_no_type},
      {"root-lost", bad_root, apply_no_root},
      {"inode-of-another-type", {}, apply_other_type},
      {"links-too-high", links_too_high, apply_more_links},
      {"links-too-low", links_too_low, apply_fewer_links},
      {"sectors-too-high", bad_sectors, apply_more_sectors},
      {"sectors-too-low", bad_sectors, apply_fewer_sectors},
      {"size-without-end", bad_size, apply_endless_size},
      {"size-too-large", {}, apply_larger_size},
      {"size-too-small", {}, apply_smaller_size},
      {"target-of-another-size", {}, apply_other_target_size},
      {"pointer-to-metadata", bad_pointer, apply_pointer_to_metadata},
      {"pointer-outside", bad_pointer, apply_pointer_outside},
      {"pointer-to-free-block", block_marked_free, apply_pointer_to_free},
      {"pointer-to-another-file", duplicate_block, apply_pointer_to_other},
      {"pointer-to-own-block", duplicate_block, apply_pointer_to_own},
      {"pointer-behind-end", blocks_behind_end, apply_pointer_behind_end},
      {"noise-for-pointers", {}, apply_noise_for_pointers},
      {"inode-copied-over", duplicate_block, apply_copy_over},
      {"noise-for-inodes", {}, apply_noise_for_inodes},
      {"nameless-hoarder", block_marked_free, apply_hoarder},
  });
  return kKinds;
}

}  // namespace headcrash::ufs::damage
