// The kinds of damage, and the losses that a repair of each kind may cause (damage.h).
#include "fs-adapters/ufs/damage/damage.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>

#include "fs-adapters/substrate/tree/directory_block.h"
#include "plugin/base/invariant.h"
#include "plugin/base/little_endian.h"

namespace headcrash::ufs::damage {
namespace {

using model::kSectorBytes;
using ufs::FragmentAddress;
using ufs::Inode;
using ufs::InodeNumber;

constexpr std::uint64_t kDamagesMost = 4, kTriesForOne = 20;
// One in kStaysCleanOneIn images keeps its clean flag; all others lose it.
constexpr std::uint64_t kStaysCleanOneIn = 4;
constexpr std::uint64_t kCleanByte = ufs::kSuperblockByte + ufs::kSuperblockCleanOffset;
constexpr std::uint32_t kClaimStepsMost = 20000;  // limit on the pointers visited in one file

void mark(std::vector<bool>& flags, std::uint64_t first, std::uint64_t count) {
  for (std::uint64_t i = first; i < first + count && i < flags.size(); ++i) flags[i] = true;
}

}  // namespace

void Permitted::conclude(const ImageSurvey& survey) {
  const auto gone = [this](std::size_t name) { return name_goes[name]; };
  for (bool again = true; again;) {
    again = false;
    for (std::size_t i = 0; i < survey.names().size(); ++i) {
      const PlacedName& name = survey.names()[i];
      if (name_goes[i] || (!inode_goes[name.inode] && !inode_goes[name.directory])) continue;
      name_goes[i] = again = true;
    }
    for (const InodeNumber number : survey.allocated()) {
      if (inode_goes[number] || number == ufs::kRootInode) continue;
      const auto& names = survey.names_of(number);
      if (!std::ranges::all_of(names, gone)) continue;
      const Inode& inode = survey.inode(number);
      const bool empty = inode.is_directory() ? std::ranges::all_of(survey.names_in(number), gone)
                                              : inode.size_bytes == 0 || other_size[number];
      if (!empty && !no_links[number]) continue;
      // A directory that is not empty stays, even if its link count is 0.
      if (!empty && inode.is_directory()) continue;
      inode_goes[number] = again = true;
    }
    again |= conclude_rings(survey);
  }
}

/// If the only name of a directory is a new name in one of its subdirectories, the directory is
/// part of a ring, and a repair may remove any name of the ring.
bool Permitted::conclude_rings(const ImageSurvey& survey) {
  bool changed = false;
  for (const auto& [name, top] : name_comes) {
    const auto& of_top = survey.names_of(top);
    if (!survey.inode(top).is_directory() || top == ufs::kRootInode ||
        !std::ranges::all_of(of_top, [this](std::size_t n) { return name_goes[n]; }))
      continue;
    std::vector<std::size_t> path;
    InodeNumber at = name.first;
    while (at != top && at != ufs::kRootInode) {
      const auto& names = survey.names_of(at);
      if (names.empty()) break;
      path.push_back(names.front());
      at = survey.names()[names.front()].directory;
    }
    if (at != top) continue;
    for (const std::size_t n : path) {
      changed = changed || !name_goes[n];
      name_goes[n] = true;
    }
  }
  return changed;
}

const std::vector<DamageKind>& damage_kinds() {
  static const std::vector<DamageKind> kAll = [] {
    std::vector<DamageKind> all;
    for (const auto& some :
         {damage_of_inodes(), damage_of_names(), damage_of_maps(), damage_of_features()})
      all.insert(all.end(), some.begin(), some.end());
    return all;
  }();
  return kAll;
}

Damaging::Damaging(const ImageSurvey& survey, model::SectorStore& store, std::uint64_t seed)
    : survey_(survey),
      store_(store),
      random_(seed),
      permitted_(survey),
      taken_(survey.geometry().inodes()),
      taken_fragment_(survey.geometry().size_fragments()) {}

bool Damaging::add(const DamageKind& kind) {
  const std::size_t before = words_.size();
  words_ += fmt::format("{}{}:", words_.empty() ? "" : "; ", kind.name);
  if (!kind.apply(*this)) {
    words_.resize(before);
    return false;
  }
  ++count_;
  return true;
}

void Damaging::draw() {
  if (!one_in(kStaysCleanOneIn))
    change(kCleanByte / kSectorBytes, 1, [](std::span<std::byte> bytes) {
      little_endian::store8(bytes, kCleanByte % kSectorBytes, 0);
    });
  auto kinds = std::span(damage_kinds());
  if (!geometry().features().netra()) {
    kinds = kinds.first(kinds.size() - damage_of_features().size());
  } else if (one_in(2)) {
    for (const DamageKind& kind : damage_of_features())
      if (kind.name == "busy-marks") (void)add(kind);
  }
  std::uint64_t wanted = 1 + below(kDamagesMost);
  for (std::uint64_t tries = kTriesForOne * wanted; wanted > 0 && tries > 0; --tries)
    if (add(kinds[below(kinds.size())])) --wanted;
}

const Permitted& Damaging::permitted() {
  permitted_.conclude(survey_);
  return permitted_;
}

void Damaging::say(const std::string& words) {
  words_ += " " + words;
}

InodeNumber Damaging::take_inode(const Suits& suits) {
  std::vector<InodeNumber> suitable;
  for (const InodeNumber number : survey_.allocated())
    if (!taken_[number] && suits(number)) suitable.push_back(number);
  if (suitable.empty()) return 0;
  const InodeNumber number = suitable[below(suitable.size())];
  take(number);
  return number;
}

InodeNumber Damaging::any_directory(const Suits& suits) {
  std::vector<InodeNumber> suitable;
  for (const InodeNumber number : survey_.allocated())
    if (!taken_[number] && survey_.inode(number).is_directory() && suits(number))
      suitable.push_back(number);
  return suitable.empty() ? 0 : suitable[below(suitable.size())];
}

InodeNumber Damaging::take_free_inode() {
  std::vector<InodeNumber> suitable;
  for (InodeNumber number = ufs::kRootInode; number < geometry().inodes(); ++number)
    if (geometry().is_inode(number) && !taken_[number] && !survey_.inode(number).allocated() &&
        survey_.is_initialised(number))
      suitable.push_back(number);
  if (suitable.empty()) return 0;
  const InodeNumber number = suitable[below(suitable.size())];
  take(number);
  return number;
}

std::optional<PlacedName> Damaging::take_name(const std::function<bool(const PlacedName&)>& suits) {
  std::vector<std::size_t> suitable;
  for (std::size_t i = 0; i < survey_.names().size(); ++i) {
    const PlacedName& name = survey_.names()[i];
    // No name is changed twice, because other damage may already have moved or removed it.
    if (!taken_[name.inode] && !taken_[name.directory] && suits(name)) suitable.push_back(i);
  }
  if (suitable.empty()) return {};
  const PlacedName& name = survey_.names()[suitable[below(suitable.size())]];
  take(name.inode);
  return name;
}

FragmentAddress Damaging::take_free_block() {
  const std::uint32_t width = geometry().fragments_per_block();
  std::vector<FragmentAddress> suitable;
  for (FragmentAddress at = 0; at + width <= geometry().size_fragments(); at += width) {
    bool free = true;
    for (FragmentAddress f = at; f < at + width; ++f)
      free = free && survey_.is_free(f) && !taken_fragment_[f];
    if (free) suitable.push_back(at);
  }
  if (suitable.empty()) return 0;
  const FragmentAddress at = suitable[below(suitable.size())];
  mark(taken_fragment_, at, width);
  return at;
}

void Damaging::change(std::uint64_t lba, std::uint32_t sectors, const Change& change) {
  std::vector<std::byte> bytes(std::size_t{sectors} * kSectorBytes);
  const auto read = store_.read(lba, bytes);
  change(bytes);
  const auto written = store_.write(lba, bytes);
  invariant(read && written, "an image in memory must be readable and writable");
}

void Damaging::change_inode(InodeNumber number, const std::function<void(Inode&)>& change_it) {
  const ufs::InodePlace place = geometry().place_of(number);
  const std::uint64_t byte = geometry().byte_of(place.block) + place.offset;
  change(byte / kSectorBytes, 1, [&](std::span<std::byte> sector) {
    const auto bytes = sector.subspan(byte % kSectorBytes, ufs::kInodeBytes);
    Inode inode = ufs::decode_inode(bytes);
    change_it(inode);
    ufs::encode_inode(inode, bytes);
  });
}

Inode Damaging::load(InodeNumber number) const {
  const ufs::InodePlace place = geometry().place_of(number);
  const std::uint64_t byte = geometry().byte_of(place.block) + place.offset;
  std::array<std::byte, kSectorBytes> sector = {};
  invariant(store_.read(byte / kSectorBytes, sector).has_value(),
            "an image in memory must be readable");
  return ufs::decode_inode(std::span(sector).subspan(byte % kSectorBytes, ufs::kInodeBytes));
}

void Damaging::change_extension(InodeNumber number,
                                const std::function<void(ufs::InodeExtension&)>& change_it) {
  const ufs::InodePlace place = geometry().place_of(number + 1);
  const std::uint64_t byte = geometry().byte_of(place.block) + place.offset;
  change(byte / kSectorBytes, 1, [&](std::span<std::byte> sector) {
    const auto bytes = sector.subspan(byte % kSectorBytes, ufs::kInodeBytes);
    ufs::InodeExtension extension = ufs::decode_extension(bytes);
    change_it(extension);
    ufs::encode_extension(extension, bytes);
  });
}

ufs::BmapCache Damaging::load_bmap(InodeNumber number) const {
  if (!geometry().features().bmap_cache || !load(number).is_regular()) return {};
  const ufs::InodePlace place = geometry().place_of(number + 1);
  const std::uint64_t byte = geometry().byte_of(place.block) + place.offset;
  std::array<std::byte, kSectorBytes> sector = {};
  invariant(store_.read(byte / kSectorBytes, sector).has_value(),
            "an image in memory must be readable");
  const ufs::BmapCache bmap =
      ufs::decode_bmap_cache(std::span(sector).subspan(byte % kSectorBytes, ufs::kInodeBytes));
  return bmap.is_sound(geometry()) ? bmap : ufs::BmapCache();
}

void Damaging::change_chunk(const PlacedName& name, const Change& change_it) {
  change(geometry().lba_of(name.at) + name.offset / tree::kChunkBytes, 1, change_it);
}

void Damaging::change_pointer(const OwnedRun& run, FragmentAddress to) {
  if (!run.holder) {
    change_inode(run.owner, [&](Inode& inode) {
      if (run.slot < ufs::kDirectPointers) {
        inode.direct.at(run.slot) = to;
      } else {
        inode.indirect.at(run.slot - ufs::kDirectPointers) = to;
      }
    });
    return;
  }
  if (run.cached) {
    change_extension(run.owner,
                     [&](ufs::InodeExtension& extension) { extension.bmap.set(run.block, to); });
    return;
  }
  const std::uint64_t byte =
      geometry().byte_of(survey_.runs()[*run.holder].at) + std::uint64_t{run.index} * 4;
  change(byte / kSectorBytes, 1, [&](std::span<std::byte> sector) {
    little_endian::store32(sector, byte % kSectorBytes, to);
  });
}

bool Damaging::add_name(InodeNumber directory, const std::string& name, InodeNumber named,
                        std::uint8_t type) {
  const Inode inode = load(directory);
  for (const std::size_t i : survey_.runs_of(directory)) {
    const OwnedRun& run = survey_.runs()[i];
    const std::uint64_t start = run.block * geometry().block_bytes();
    if (run.level != 0 || start >= inode.size_bytes) continue;
    const auto chunks = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(inode.size_bytes - start, geometry().block_bytes()) /
        tree::kChunkBytes);
    bool added = false;
    for (std::uint32_t chunk = 0; chunk < chunks && !added; ++chunk)
      change(geometry().lba_of(run.at) + chunk, 1, [&](std::span<std::byte> bytes) {
        added = tree::add_entry(bytes, name, named, type).has_value();
      });
    if (!added) continue;
    permitted_.name_comes[{directory, name}] = named;
    return true;
  }
  return false;
}

void Damaging::remove_name(const PlacedName& name) {
  change_chunk(name, [&](std::span<std::byte> chunk) {
    // Searches for the entry, because other damage may have moved it.
    if (const auto entry = tree::find_entry(chunk, name.name))
      tree::remove_entry(chunk, entry->offset);
  });
  lose_name(name);
}

void Damaging::lose_name(const PlacedName& name) {
  for (const std::size_t i : survey_.names_in(name.directory))
    if (survey_.names()[i].name == name.name) permitted_.name_goes[i] = true;
}

void Damaging::fill_with_noise(std::span<std::byte> bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(random_.next());
}

void Damaging::lose_bytes(const OwnedRun& run) {
  mark(permitted_.other_bytes, geometry().lba_of(run.at),
       std::uint64_t{run.fragments} * geometry().sectors_per_fragment());
}

void Damaging::lose_inode(InodeNumber number) {
  permitted_.inode_goes[number] = true;
  for (const std::size_t run : survey_.runs_of(number)) lose_bytes(survey_.runs()[run]);
  lose_names(number, 0);
}

void Damaging::lose_names(InodeNumber directory, std::uint64_t from_byte) {
  for (const std::size_t i : survey_.names_in(directory))
    if (survey_.names()[i].byte >= from_byte) permitted_.name_goes[i] = true;
}

void Damaging::lose_run(std::size_t number) {
  const OwnedRun& lost = survey_.runs()[number];
  const bool directory = survey_.inode(lost.owner).is_directory();
  const std::uint64_t reach = geometry().blocks_below(lost.level);
  for (const std::size_t i : survey_.runs_of(lost.owner)) {
    const OwnedRun& run = survey_.runs()[i];
    const bool below = run.level <= lost.level && run.block >= lost.block &&
                       (directory || run.block < lost.block + reach);
    const bool behind = directory && run.block + geometry().blocks_below(run.level) > lost.block;
    if (!below && !behind) continue;
    lose_bytes(run);
    if (!run.holder)
      permitted_.other_pointers[lost.owner] |= static_cast<std::uint16_t>(1U << run.slot);
  }
  if (lost.holder) {
    const OwnedRun& holder = survey_.runs()[*lost.holder];
    mark(permitted_.other_bytes,
         geometry().lba_of(holder.at) + std::uint64_t{lost.index} * 4 / kSectorBytes, 1);
  } else {
    permitted_.other_pointers[lost.owner] |= static_cast<std::uint16_t>(1U << lost.slot);
  }
  if (!directory) return;
  permitted_.other_size[lost.owner] = true;
  lose_names(lost.owner, lost.block * geometry().block_bytes());
  if (lost.block == 0) lose_inode(lost.owner);
}

/// Returns true if `kept`, rather than `other`, keeps a block that both inodes claim. The rule is
/// the same as in fsck_duplicates.cc.
bool Damaging::prefers(InodeNumber kept, InodeNumber other, const Inode& now) const {
  const auto rank = [](InodeNumber number, const Inode& inode) {
    return std::tuple(number != ufs::kRootInode, !inode.is_directory(),
                      -std::int64_t{inode.changed.seconds},
                      -std::int64_t{inode.changed.nanoseconds}, number);
  };
  return rank(kept, survey_.inode(kept)) < rank(other, now);
}

void Damaging::contend(InodeNumber number) {
  const Inode now = load(number);
  if (!now.allocated() || ufs::pointers_are_text(now, geometry().inline_target_max())) return;
  Claimant claimant{.number = number, .now = now, .bmap = load_bmap(number)};
  for (std::uint32_t i = 0; i < ufs::kDirectPointers; ++i) claim(claimant, now.direct[i], 0, i);
  for (std::uint32_t i = 0; i < ufs::kIndirectPointers; ++i)
    claim(claimant, now.indirect[i], i + 1, geometry().blocks_within(i));
}

void Damaging::claim(Claimant& claimant, FragmentAddress at, std::uint32_t level,
                     std::uint64_t block) {
  const InodeNumber number = claimant.number;
  const Inode& now = claimant.now;
  const std::uint32_t width = geometry().fragments_per_block();
  if (at == 0 || block >= geometry().blocks_of_size(now.size_bytes) ||
      ++claimant.steps > kClaimStepsMost)
    return;
  const std::uint32_t fragments =
      level == 0 ? geometry().fragments_of_block(now.size_bytes, block) : width;
  if (at % width + fragments > width || !geometry().is_data(at) ||
      !geometry().is_data(at + fragments - 1))
    return;  // fsck clears this pointer
  bool own = true;
  for (FragmentAddress f = at; f < at + fragments; ++f) {
    if (survey_.is_free(f)) taken_fragment_[f] = true;
    const auto run = survey_.run_at(f);
    if (!run || survey_.runs()[*run].owner == number) continue;
    own = own && !prefers(survey_.runs()[*run].owner, number, now);
  }
  for (FragmentAddress f = at; f < at + fragments; ++f) {
    const auto run = survey_.run_at(f);
    if (!run || survey_.runs()[*run].owner == number) continue;
    if (!prefers(survey_.runs()[*run].owner, number, now)) lose_run(*run);
  }
  if (level == 0 || !own) return;
  std::vector<std::byte> pointers(geometry().block_bytes());
  invariant(store_.read(geometry().lba_of(at), pointers).has_value(),
            "an image in memory must be readable");
  if (level == 1 && claimant.bmap.is_of(geometry(), block))
    claimant.bmap.lay_over(geometry(), pointers);
  for (std::uint32_t i = 0; i < geometry().pointers_per_block(); ++i)
    claim(claimant, little_endian::load32(pointers, std::size_t{i} * 4), level - 1,
          block + i * geometry().blocks_below(level - 1));
}

}  // namespace headcrash::ufs::damage
