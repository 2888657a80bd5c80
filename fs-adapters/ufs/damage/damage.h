#pragma once
// Damage that no power cut causes: a few kinds, drawn from a seed, are applied to a sound,
// unmounted image. Crash exploration covers only states that a scheme's write order permits. A
// broken disk, memory or driver causes other damage, and a repair must handle such damage just as
// carefully.
//
//   sound image -> ImageSurvey -> Damaging -> damaged image, and permitted losses (Permitted)
//
// Each kind is a function in damage_of_inodes.cc, damage_of_names.cc, damage_of_maps.cc or
// damage_of_features.cc, with an entry in that file's table. The function selects an inode, name or
// group that has no other damage, so that the permitted losses are known exactly. If two files then
// claim a block, the rule of fsck_duplicates.cc determines which file loses the block.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fs-adapters/ufs/damage/image_survey.h"
#include "fs-adapters/ufs/format/inode_extension.h"
#include "fs-adapters/ufs/fsck/fsck.h"
#include "plugin/base/random.h"
#include "plugin/model/core/store.h"

namespace headcrash::ufs::damage {

inline constexpr std::uint16_t kAllPointers = 0x7fff;  ///< value for Permitted::other_pointers

/// The losses that a repair may cause; it must preserve everything else. The vectors have the same
/// indices as in ImageSurvey.
struct Permitted {
  explicit Permitted(const ImageSurvey& survey)
      : inode_goes(survey.geometry().inodes()),
        other_mode(survey.geometry().inodes()),
        other_size(survey.geometry().inodes()),
        other_names(survey.geometry().inodes()),
        no_links(survey.geometry().inodes()),
        other_pointers(survey.geometry().inodes()),
        other_bytes(survey.geometry().size_fragments() * survey.geometry().sectors_per_fragment()),
        name_goes(survey.names().size()) {}

  /// Inodes that may become free, or whose numbers may be reused.
  std::vector<bool> inode_goes;
  std::vector<bool> other_mode, other_size;  ///< inodes whose mode or size may differ
  std::vector<bool> other_names;             ///< directories in which new names may appear
  /// Inodes whose link count is 0; a repair may free those that have no name.
  std::vector<bool> no_links;
  /// Indexed by inode: one bit for each of its 15 pointers, set if the pointer may differ.
  std::vector<std::uint16_t> other_pointers;
  /// Indexed by sector: true if a repair may change the bytes of the sector.
  std::vector<bool> other_bytes;
  /// Indexed by name in the survey: true if the name may be missing after a repair.
  std::vector<bool> name_goes;
  /// New names and their inodes; the key is the directory and the name.
  std::map<std::pair<ufs::InodeNumber, std::string>, ufs::InodeNumber> name_comes;
  /// New names that must remain, unless some contents of their directory may be lost.
  std::set<std::pair<ufs::InodeNumber, std::string>> name_stays;

  /// Inodes that the damage creates. A repair must keep them.
  std::map<ufs::InodeNumber, ufs::Inode> made;

  /// Adds the losses that follow from the other losses. For example, an inode that may lose all its
  /// names and its contents may be freed. If a directory may be freed, all names in it may be lost.
  void conclude(const ImageSurvey& survey);

 private:
  bool conclude_rings(const ImageSurvey& survey);
};

class Damaging;
struct DamageKind {
  std::string_view name;
  /// The finding that a check must report; nullopt if the finding depends on the image.
  std::optional<ufs::FindingKind> shows;
  /// Applies the damage. If the image has nothing that this kind can damage, changes nothing and
  /// returns false.
  bool (*apply)(Damaging& image);
};
/// Returns all kinds of damage. A seed selects a kind by its position in this list.
const std::vector<DamageKind>& damage_kinds();
/// The four parts of damage_kinds(), one per source file.
std::span<const DamageKind> damage_of_inodes();
std::span<const DamageKind> damage_of_names();
std::span<const DamageKind> damage_of_maps();
/// Kinds of damage that are possible only in images with features. They come last in the table.
std::span<const DamageKind> damage_of_features();

/// An image that is being damaged. The kinds of damage use this interface.
class Damaging {
 public:
  /// `store` must contain the surveyed image. All arguments must outlive this object.
  Damaging(const ImageSurvey& survey, model::SectorStore& store, std::uint64_t seed);

  /// Applies one kind of damage. Returns false if the image has nothing that this kind can damage.
  bool add(const DamageKind& kind);
  /// Applies one to four kinds of damage, and usually clears the clean flag.
  void draw();
  /// Returns a line such as "inode-cleared: inode 7; ...".
  const std::string& words() const { return words_; }
  /// Returns the permitted losses. Must be called after the last damage has been applied; no more
  /// damage may be added afterwards.
  const Permitted& permitted();
  std::size_t count() const { return count_; }

  // The following functions are for the kinds of damage. Their random numbers are derived from the
  // seed.
  const ImageSurvey& survey() const { return survey_; }
  const ufs::Geometry& geometry() const { return survey_.geometry(); }
  std::uint64_t below(std::uint64_t bound) { return random_.below(bound); }
  bool one_in(std::uint64_t n) { return random_.below(n) == 0; }
  Permitted& may() { return permitted_; }
  void say(const std::string& words);

  using Suits = std::function<bool(ufs::InodeNumber)>;
  /// Selects an allocated inode that has no other damage and for which `suits` returns true, and
  /// marks the inode as taken. Returns 0 if there is no such inode.
  ufs::InodeNumber take_inode(const Suits& suits);
  /// Selects a directory, which may already have other damage.
  ufs::InodeNumber any_directory(const Suits& suits);
  ufs::InodeNumber take_free_inode();
  /// Selects the name of an inode that has no other damage, and marks that inode as taken.
  std::optional<PlacedName> take_name(const std::function<bool(const PlacedName&)>& suits);
  /// Selects a free block and marks it as taken. Returns 0 if no block is free.
  ufs::FragmentAddress take_free_block();
  bool is_taken(ufs::InodeNumber number) const { return taken_[number]; }
  void take(ufs::InodeNumber number) { taken_[number] = true; }

  using Change = std::function<void(std::span<std::byte>)>;
  void change(std::uint64_t lba, std::uint32_t sectors, const Change& change);
  void change_inode(ufs::InodeNumber number, const std::function<void(ufs::Inode&)>& change);
  ufs::Inode load(ufs::InodeNumber number) const;
  void change_extension(ufs::InodeNumber number,
                        const std::function<void(ufs::InodeExtension&)>& change);
  /// Returns the inode's bmap cache if a check would use it; otherwise, an empty cache.
  ufs::BmapCache load_bmap(ufs::InodeNumber number) const;
  /// Changes the 512-byte chunk that contains the name's entry.
  void change_chunk(const PlacedName& name, const Change& change);
  void change_pointer(const OwnedRun& run, ufs::FragmentAddress to);
  /// Adds a name to a directory. Returns false if the directory has no space.
  bool add_name(ufs::InodeNumber directory, const std::string& name, ufs::InodeNumber named,
                std::uint8_t type);
  void remove_name(const PlacedName& name);
  void fill_with_noise(std::span<std::byte> bytes);

  // Permitted losses.
  void lose_name(const PlacedName& name);
  void lose_inode(ufs::InodeNumber number);
  void lose_names(ufs::InodeNumber directory, std::uint64_t from_byte);
  /// Permits the loss of a pointer's target. If the file is a directory, also permits the loss of
  /// everything after the target in the directory.
  void lose_run(std::size_t run);
  /// Determines which files lose the blocks that this inode also claims. Must be called after the
  /// last change to the inode.
  void contend(ufs::InodeNumber number);

 private:
  void lose_bytes(const OwnedRun& run);
  bool prefers(ufs::InodeNumber kept, ufs::InodeNumber other, const ufs::Inode& now) const;
  struct Claimant {
    ufs::InodeNumber number;
    ufs::Inode now;
    ufs::BmapCache bmap;
    std::uint32_t steps = 0;  ///< pointers visited so far
  };
  void claim(Claimant& claimant, ufs::FragmentAddress at, std::uint32_t level, std::uint64_t block);

  const ImageSurvey& survey_;
  model::SectorStore& store_;
  Random random_;
  Permitted permitted_;
  std::vector<bool> taken_;  ///< by inode
  /// By fragment: true if the fragment is free in the undamaged image, but the damage has allocated
  /// it.
  std::vector<bool> taken_fragment_;
  std::string words_;
  std::size_t count_ = 0;
};

}  // namespace headcrash::ufs::damage
