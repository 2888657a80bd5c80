// Damages directories, their names, and the directory structure (damage.h).
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "fs-adapters/substrate/tree/directory_block.h"
#include "fs-adapters/substrate/tree/exchange_name.h"
#include "fs-adapters/ufs/damage/damage.h"
#include "plugin/base/little_endian.h"

namespace headcrash::ufs::damage {
namespace {

using tree::kChunkBytes;
using ufs::InodeNumber;

constexpr std::size_t kLengthField = 4;  // offset of the length field in an entry

void say_name(Damaging& image, const PlacedName& name) {
  image.say(
      fmt::format("\"{}\" in directory {} (inode {})", name.name, name.directory, name.inode));
}

bool any_name(const PlacedName&) {
  return true;
}
auto of_directories(const Damaging& image) {
  return
      [&image](const PlacedName& name) { return image.survey().inode(name.inode).is_directory(); };
}
auto of_files(const Damaging& image) {
  return
      [&image](const PlacedName& name) { return !image.survey().inode(name.inode).is_directory(); };
}

/// Changes the entry in place. The entry is still valid afterwards.
void change_entry(Damaging& image, const PlacedName& name,
                  const std::function<void(std::span<std::byte>, std::uint32_t)>& change) {
  image.change_chunk(name, [&](std::span<std::byte> chunk) {
    if (const auto entry = tree::find_entry(chunk, name.name)) change(chunk, entry->offset);
  });
}

bool remove(Damaging& image, const std::function<bool(const PlacedName&)>& suits) {
  const auto name = image.take_name(suits);
  if (!name) return false;
  image.remove_name(*name);
  say_name(image, *name);
  return true;
}

bool apply_file_without_name(Damaging& image) {
  return remove(image, [&](const PlacedName& name) {
    return of_files(image)(name) && image.survey().names_of(name.inode).size() == 1;
  });
}
bool apply_directory_without_name(Damaging& image) {
  return remove(image, of_directories(image));
}
bool apply_empty_directory_without_name(Damaging& image) {
  return remove(image, [&](const PlacedName& name) {
    return of_directories(image)(name) && image.survey().names_in(name.inode).empty();
  });
}
bool apply_one_name_less(Damaging& image) {
  return remove(image, [&](const PlacedName& name) {
    return image.survey().names_of(name.inode).size() > 1;
  });
}

bool lead_name(Damaging& image, InodeNumber to) {
  const auto name = image.take_name(any_name);
  if (!name) return false;
  change_entry(image, *name,
               [&](auto chunk, auto offset) { tree::set_entry_inode(chunk, offset, to); });
  image.lose_name(*name);
  say_name(image, *name);
  image.say(fmt::format("now refers to inode {}", to));
  return true;
}

bool apply_name_of_free_inode(Damaging& image) {
  const InodeNumber to = image.take_free_inode();
  return to != 0 && lead_name(image, to);
}

bool apply_name_of_no_inode(Damaging& image) {
  const InodeNumber end = image.geometry().inodes();
  const std::array<InodeNumber, 4> all{1, end, end + 17, 0xffffffffU};
  return lead_name(image, all.at(image.below(all.size())));
}

bool apply_name_of_another(Damaging& image) {
  const auto name = image.take_name(of_files(image));
  if (!name) return false;
  const std::uint16_t mode = image.survey().inode(name->inode).mode;
  const InodeNumber to = image.take_inode([&](InodeNumber n) {
    return (image.survey().inode(n).mode & ufs::kTypeMask) == (mode & ufs::kTypeMask);
  });
  if (to == 0) return false;
  change_entry(image, *name,
               [&](auto chunk, auto offset) { tree::set_entry_inode(chunk, offset, to); });
  image.lose_name(*name);
  image.may().name_comes[{name->directory, name->name}] = to;
  say_name(image, *name);
  image.say(fmt::format("now refers to inode {}", to));
  return true;
}

bool apply_name_of_wrong_type(Damaging& image) {
  const auto name = image.take_name(any_name);
  if (!name) return false;
  const std::uint8_t right = ufs::entry_type(image.survey().inode(name->inode).mode);
  const auto wrong = static_cast<std::uint8_t>(1 + image.below(15));
  if (wrong == right) return false;
  change_entry(image, *name, [&](auto chunk, auto offset) {
    little_endian::store8(chunk, offset + tree::kEntryTypeOffset, wrong);
  });
  say_name(image, *name);
  return true;
}

bool apply_byte_into_name(Damaging& image, char byte) {
  const auto name = image.take_name(any_name);
  if (!name) return false;
  const std::size_t at = image.below(name->name.size());
  change_entry(image, *name, [&](auto chunk, auto offset) {
    little_endian::store8(chunk, offset + tree::kEntryFixedBytes + at,
                          static_cast<std::uint8_t>(byte));
  });
  image.lose_name(*name);
  say_name(image, *name);
  return true;
}
bool apply_name_with_slash(Damaging& image) {
  return apply_byte_into_name(image, '/');
}
bool apply_name_with_zero(Damaging& image) {
  return apply_byte_into_name(image, '\0');
}

bool apply_name_without_end(Damaging& image) {
  const auto name = image.take_name(any_name);
  if (!name) return false;
  change_entry(image, *name, [&](auto chunk, auto offset) {
    little_endian::store8(chunk, offset + tree::kEntryFixedBytes + name->name.size(), 'x');
  });
  say_name(image, *name);
  return true;
}

bool apply_second_name(Damaging& image) {
  const auto name = image.take_name(of_directories(image));
  if (!name) return false;
  const InodeNumber in = image.any_directory([&](InodeNumber n) { return n != name->directory; });
  if (in == 0 || !image.add_name(in, fmt::format("second-{}", name->inode), name->inode,
                                 ufs::entry_type(ufs::kTypeDirectory)))
    return false;
  say_name(image, *name);
  image.say(fmt::format("has an additional name in directory {}", in));
  return true;
}

bool apply_name_of_root(Damaging& image) {
  const InodeNumber in = image.any_directory([](InodeNumber) { return true; });
  if (in == 0 || !image.add_name(in, "root", ufs::kRootInode, ufs::entry_type(ufs::kTypeDirectory)))
    return false;
  image.say(fmt::format("in directory {}", in));
  return true;
}

bool apply_uncounted_name(Damaging& image) {
  const auto name = image.take_name(of_files(image));
  if (!name) return false;
  const InodeNumber in = image.any_directory([](InodeNumber) { return true; });
  const std::string added = fmt::format("uncounted-{}", name->inode);
  if (in == 0 || !image.add_name(in, added, name->inode,
                                 ufs::entry_type(image.survey().inode(name->inode).mode)))
    return false;
  image.take(in);
  image.may().name_stays.emplace(in, added);
  say_name(image, *name);
  image.say(fmt::format("has an additional name in directory {}", in));
  return true;
}

/// Adds the temporary name that an interrupted exchange gives to a file. If `alone` is true, the
/// temporary name is the file's only name; otherwise, the file also keeps its real name.
bool apply_name_of_exchange(Damaging& image, bool alone) {
  const auto name = image.take_name([&](const PlacedName& one) {
    return of_files(image)(one) && image.survey().names_of(one.inode).size() == 1;
  });
  if (!name) return false;
  const std::string third = tree::exchange_name(name->inode, 0);
  if (!image.add_name(name->directory, third, name->inode,
                      ufs::entry_type(image.survey().inode(name->inode).mode)))
    return false;
  say_name(image, *name);
  if (!alone) return true;
  image.remove_name(*name);
  image.take(name->directory);
  image.may().name_stays.emplace(name->directory, third);
  return true;
}
bool apply_only_name_of_exchange(Damaging& image) {
  return apply_name_of_exchange(image, true);
}
bool apply_third_name_of_exchange(Damaging& image) {
  return apply_name_of_exchange(image, false);
}

/// Adds a temporary name to a file whose other name is in a directory that has become unreachable.
/// The temporary name is therefore the only reachable one.
bool apply_third_name_beside_lost_one(Damaging& image) {
  if (image.is_taken(ufs::kRootInode)) return false;
  const auto name = image.take_name([&](const PlacedName& one) {
    return of_files(image)(one) && one.directory != ufs::kRootInode &&
           !image.is_taken(one.directory) && image.survey().names_of(one.inode).size() == 1 &&
           image.survey().names_of(one.directory).size() == 1;
  });
  if (!name) return false;
  const std::string third = tree::exchange_name(name->inode, 0);
  if (!image.add_name(ufs::kRootInode, third, name->inode,
                      ufs::entry_type(image.survey().inode(name->inode).mode)))
    return false;
  image.take(ufs::kRootInode);
  image.take(name->directory);
  image.may().name_stays.emplace(ufs::kRootInode, third);
  image.remove_name(image.survey().names()[image.survey().names_of(name->directory).front()]);
  say_name(image, *name);
  return true;
}

InodeNumber take_directory(Damaging& image) {
  return image.take_inode([&](InodeNumber n) { return image.survey().inode(n).is_directory(); });
}

/// Returns the position of a directory's first chunk if `first` is true; otherwise, that of a
/// random chunk.
PlacedName some_chunk(Damaging& image, InodeNumber directory, bool first) {
  const ufs::Geometry& geometry = image.geometry();
  const std::uint64_t chunks = image.load(directory).size_bytes / tree::kChunkBytes;
  PlacedName place{.directory = directory,
                   .byte = first ? 0 : image.below(chunks) * tree::kChunkBytes};
  for (const std::size_t i : image.survey().runs_of(directory)) {
    const OwnedRun& run = image.survey().runs()[i];
    if (run.level != 0 || run.block != geometry.block_of(place.byte)) continue;
    place.at = run.at;
    place.offset = geometry.offset_in_block(place.byte);
  }
  return place;
}
void lose_names_of_chunk(Damaging& image, const PlacedName& chunk, std::uint32_t from) {
  for (const std::size_t i : image.survey().names_in(chunk.directory)) {
    const std::uint64_t byte = image.survey().names()[i].byte;
    if (byte >= chunk.byte + from && byte < chunk.byte + tree::kChunkBytes)
      image.may().name_goes[i] = true;
  }
}

bool spoil_chunk(Damaging& image, const Damaging::Change& change) {
  const InodeNumber number = take_directory(image);
  if (number == 0) return false;
  const PlacedName chunk = some_chunk(image, number, false);
  image.change_chunk(chunk, change);
  lose_names_of_chunk(image, chunk, 0);
  image.say(fmt::format("directory {}, byte {}", number, chunk.byte));
  return true;
}
bool apply_noise_for_names(Damaging& image) {
  return spoil_chunk(image, [&](std::span<std::byte> bytes) { image.fill_with_noise(bytes); });
}
bool apply_zeroes_for_names(Damaging& image) {
  return spoil_chunk(image,
                     [](std::span<std::byte> bytes) { std::ranges::fill(bytes, std::byte{0}); });
}

bool apply_entry_of_no_length(Damaging& image) {
  const auto name = image.take_name(any_name);
  if (!name) return false;
  image.take(name->directory);
  std::uint32_t from = 0;
  change_entry(image, *name, [&](auto chunk, auto offset) {
    little_endian::store16(chunk, offset + kLengthField,
                           static_cast<std::uint16_t>(image.one_in(2) ? 7 : 0x7ffc));
    from = offset;
  });
  // If the chunk has been compacted, the damaged entry is at a lower offset than before.
  PlacedName chunk = *name;
  chunk.byte = name->byte / tree::kChunkBytes * tree::kChunkBytes;
  lose_names_of_chunk(image, chunk, std::min(from, name->offset % tree::kChunkBytes));
  say_name(image, *name);
  return true;
}

bool apply_wrong_dot(Damaging& image) {
  const InodeNumber number = take_directory(image);
  if (number == 0) return false;
  const InodeNumber to = number + 1 + static_cast<InodeNumber>(image.below(5));
  image.change_chunk(some_chunk(image, number, true),
                     [&](auto chunk) { tree::set_entry_inode(chunk, 0, to); });
  image.say(fmt::format("'.' of directory {} refers to {}", number, to));
  return true;
}

bool apply_wrong_dot_dot(Damaging& image) {
  const InodeNumber number = take_directory(image);
  if (number == 0) return false;
  const auto& all = image.survey().allocated();
  const InodeNumber to = image.one_in(4) ? 0x7fffffff : all[image.below(all.size())];
  bool other = false;
  image.change_chunk(some_chunk(image, number, true), [&](auto chunk) {
    const auto entry = tree::find_entry(chunk, "..");
    other = entry && entry->inode != to;
    if (other) tree::set_entry_inode(chunk, entry->offset, to);
  });
  image.say(fmt::format("'..' of directory {} refers to {}", number, to));
  return other;
}

bool apply_missing_dots(Damaging& image) {
  const InodeNumber number = take_directory(image);
  if (number == 0) return false;
  const std::uint64_t how = image.below(4);
  image.change_chunk(some_chunk(image, number, true), [&](auto chunk) {
    const std::uint32_t offset = how % 2 == 0 ? 0 : tree::find_entry(chunk, "..")->offset;
    if (how < 2) {
      little_endian::store8(chunk, offset + tree::kEntryFixedBytes, 'x');
    } else {
      tree::set_entry_inode(chunk, offset, 0);
    }
  });
  // The former ".." is now an ordinary name for the parent, and there must be enough space for a
  // new "..".
  if (how == 1) {
    lose_names_of_chunk(image, some_chunk(image, number, true), 0);
    for (const std::size_t n : image.survey().names_of(number))
      image.may().name_comes[{number, "x."}] = image.survey().names()[n].directory;
  }
  image.say(fmt::format("directory {}: {} of the entries '.' and '..'", number,
                        how % 2 == 0 ? "the first" : "the second"));
  return true;
}

bool apply_more_dots(Damaging& image) {
  const InodeNumber number = take_directory(image);
  const bool one = image.one_in(2);
  if (number == 0 || image.load(number).size_bytes == tree::kChunkBytes) return false;
  PlacedName place = some_chunk(image, number, false);
  if (place.byte == 0) return false;
  bool added = false;
  image.change_chunk(place, [&](auto chunk) {
    added = tree::add_entry(chunk, one ? "." : "..", number, ufs::entry_type(ufs::kTypeDirectory))
                .has_value();
  });
  image.say(fmt::format("in directory {}", number));
  return added;
}

/// Moves a directory's name into the directory itself or into a directory below it.
bool apply_loop(Damaging& image) {
  const auto name = image.take_name(of_directories(image));
  if (!name) return false;
  std::vector<InodeNumber> below{name->inode};
  for (std::size_t i = 0; i < below.size(); ++i)
    for (const std::size_t n : image.survey().names_in(below[i])) {
      const InodeNumber child = image.survey().names()[n].inode;
      if (image.survey().inode(child).is_directory() && !image.is_taken(child))
        below.push_back(child);
    }
  const InodeNumber in = below[image.below(below.size())];
  if (!image.add_name(in, "up", name->inode, ufs::entry_type(ufs::kTypeDirectory))) return false;
  image.remove_name(*name);
  image.take(in);
  say_name(image, *name);
  image.say(fmt::format("moved to directory {}", in));
  return true;
}

/// Makes two directories contain each other.
bool apply_ring(Damaging& image) {
  const auto one = image.take_name(of_directories(image));
  if (!one) return false;
  const auto other = image.take_name([&](const PlacedName& name) {
    return of_directories(image)(name) && name.directory != one->inode;
  });
  if (!other || one->directory == other->inode) return false;
  const auto type = ufs::entry_type(ufs::kTypeDirectory);
  if (!image.add_name(one->inode, "ring", other->inode, type)) return false;
  say_name(image, *one);
  say_name(image, *other);
  if (!image.add_name(other->inode, "ring", one->inode, type))
    return true;  // one of the files now has a second name, which is also damage
  image.remove_name(*one);
  image.remove_name(*other);
  return true;
}

bool apply_emptied(Damaging& image) {
  const InodeNumber number = image.take_inode([&](InodeNumber n) {
    return image.survey().inode(n).is_directory() && !image.survey().names_in(n).empty();
  });
  if (number == 0) return false;
  const bool half = image.one_in(2);
  std::size_t removed = 0;
  for (const std::size_t i : image.survey().names_in(number)) {
    if (half && image.one_in(2)) continue;
    image.remove_name(image.survey().names()[i]);
    ++removed;
  }
  image.say(fmt::format("directory {}: {} names were removed", number, removed));
  return removed > 0;
}

bool apply_hole(Damaging& image) {
  // Prefers a directory that has blocks after the hole, because a repair must free these blocks.
  InodeNumber number = 0;
  for (const std::size_t least : {2U, 1U})
    if (number == 0)
      number = image.take_inode([&](InodeNumber n) {
        return n != ufs::kRootInode && image.survey().inode(n).is_directory() &&
               image.survey().runs_of(n).size() >= least;
      });
  if (number == 0) return false;
  const auto runs = image.survey().runs_of(number);
  const std::size_t run = runs[image.below(3) == 0 ? 0 : image.below(runs.size())];
  image.change_pointer(image.survey().runs()[run], 0);
  image.lose_run(run);
  image.say(fmt::format("directory {}, block {}", number, image.survey().runs()[run].block));
  return true;
}

bool is_lost_found(const Damaging& image, InodeNumber number) {
  for (const std::size_t i : image.survey().names_of(number)) {
    const PlacedName& name = image.survey().names()[i];
    if (name.directory == ufs::kRootInode && name.name == "lost+found") return true;
  }
  return false;
}

/// Fills lost+found, and removes one to four other names, so that a repair must move inodes to
/// lost+found. In some cases, first reduces lost+found to its first chunk.
bool apply_full_lost_found(Damaging& image) {
  constexpr std::size_t kNamesMost = 100;
  const InodeNumber number =
      image.take_inode([&](InodeNumber n) { return is_lost_found(image, n); });
  if (number == 0) return false;
  const InodeNumber file = image.take_inode([&](InodeNumber n) {
    return image.survey().inode(n).is_regular() && image.survey().inode(n).size_bytes > 0;
  });
  if (file == 0) return false;
  const bool shorter = image.one_in(2) && image.load(number).size_bytes > tree::kChunkBytes &&
                       image.survey().names_in(number).empty();
  if (shorter) {
    image.change_inode(number, [](ufs::Inode& inode) { inode.size_bytes = tree::kChunkBytes; });
    image.may().other_size[number] = true;
    image.may().other_pointers[number] = kAllPointers;
  }
  const auto type = ufs::entry_type(ufs::kTypeRegular);
  std::size_t names = 0;
  for (const std::size_t length : {200U, 30U, 5U})
    while (names < kNamesMost &&
           image.add_name(number, fmt::format("{:0{}}", names, length), file, type))
      ++names;
  std::size_t lost = 0;
  for (std::uint64_t wanted = 1 + image.below(4); wanted > 0; --wanted)
    if (const auto name = image.take_name(any_name)) {
      image.remove_name(*name);
      ++lost;
    }
  image.say(fmt::format("{}{} names of inode {} were added, {} names were lost",
                        shorter ? "shorter, " : "", names, file, lost));
  return true;
}

/// Like apply_full_lost_found(), but also uses up the free space, so that lost+found cannot grow.
bool apply_no_room(Damaging& image) {
  const auto kinds = damage_of_inodes();
  const auto hoarder =
      std::ranges::find(kinds, std::string_view("nameless-hoarder"), &DamageKind::name);
  if (!apply_full_lost_found(image)) return false;
  hoarder->apply(image);
  return true;
}

}  // namespace

std::span<const DamageKind> damage_of_names() {
  using enum ufs::FindingKind;
  static constexpr std::array kKinds = std::to_array<DamageKind>({
      {"file-without-name", unreferenced_file, apply_file_without_name},
      {"directory-without-name", unreferenced_directory, apply_directory_without_name},
      {"empty-directory-without-name", unreferenced_directory, apply_empty_directory_without_name},
      {"one-name-less", links_too_high, apply_one_name_less},
      {"name-of-free-inode", dangling_entry, apply_name_of_free_inode},
      {"name-of-no-inode", bad_entry, apply_name_of_no_inode},
      {"name-of-another-file", links_too_low, apply_name_of_another},
      {"name-of-wrong-type", bad_entry, apply_name_of_wrong_type},
      {"name-with-slash", bad_entry, apply_name_with_slash},
      {"name-with-zero", bad_entry, apply_name_with_zero},
      {"name-without-end", bad_entry, apply_name_without_end},
      {"second-name-of-directory", directory_second_name, apply_second_name},
      {"name-of-root", directory_second_name, apply_name_of_root},
      {"uncounted-name", links_too_low, apply_uncounted_name},
      {"third-name-of-exchange", interrupted_exchange, apply_third_name_of_exchange},
      {"third-name-beside-a-lost-one", unreferenced_directory, apply_third_name_beside_lost_one},
      {"only-name-of-exchange", {}, apply_only_name_of_exchange},
      {"noise-for-names", {}, apply_noise_for_names},
      {"zeroes-for-names", bad_chunk, apply_zeroes_for_names},
      {"entry-of-no-length", bad_chunk, apply_entry_of_no_length},
      {"wrong-dot", bad_dot, apply_wrong_dot},
      {"wrong-dot-dot", dot_dot_elsewhere, apply_wrong_dot_dot},
      {"missing-dots", bad_dot, apply_missing_dots},
      {"more-dots", bad_dot, apply_more_dots},
      {"loop", unreferenced_directory, apply_loop},
      {"ring", unreferenced_directory, apply_ring},
      {"directory-emptied", {}, apply_emptied},
      {"directory-with-hole", directory_hole, apply_hole},
      {"lost-found-full", links_too_low, apply_full_lost_found},
      {"no-room", block_marked_free, apply_no_room},
  });
  return kKinds;
}

}  // namespace headcrash::ufs::damage
