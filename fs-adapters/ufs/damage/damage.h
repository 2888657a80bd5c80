#pragma once
// Damage that no power cut leaves: from a seed, a few of typed kinds are put into a sound,
// unmounted image. What a checker finds of crash states is only what a scheme's order lets through;
// a broken disk, memory or driver leaves the rest, and a repair of that has to be as careful.
//
//   sound image -> ImageSurvey -> Damaging -> damaged image, and what may be lost by it (Permitted)
//
// Each kind is a function in damage_of_inodes.cc, damage_of_names.cc, damage_of_maps.cc or
// damage_of_features.cc, and a line in its table. It chooses an inode, name or group that no other
// damage of this image has, so that what may be lost is known exactly; where two files then claim a
// block, the rule of fsck_duplicates.cc says who loses it.

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

inline constexpr std::uint16_t kAllPointers = 0x7fff;  ///< of Permitted::other_pointers

/// What a repair may lose, by numbers of the survey. All else must still be there.
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

  std::vector<bool> inode_goes;               ///< it may be free, or have become another one
  std::vector<bool> other_mode, other_size;   ///< by inode
  std::vector<bool> other_names;              ///< by directory: any names may have come into it
  std::vector<bool> no_links;                 ///< the inode says so: without a name it may go
  std::vector<std::uint16_t> other_pointers;  ///< by inode: a bit for each of its 15 pointers
  std::vector<bool> other_bytes;              ///< by sector
  std::vector<bool> name_goes;                ///< by number in the survey's names
  /// By directory and name: what it leads to.
  std::map<std::pair<ufs::InodeNumber, std::string>, ufs::InodeNumber> name_comes;
  /// Of these, which have to be there, as long as their directories lose nothing.
  std::set<std::pair<ufs::InodeNumber, std::string>> name_stays;

  std::map<ufs::InodeNumber, ufs::Inode> made;  ///< by the damage; they stay, too

  /// What follows from the rest: who has no name and nothing in it may go, and with it the names
  /// that it has.
  void conclude(const ImageSurvey& survey);

 private:
  bool conclude_rings(const ImageSurvey& survey);
};

class Damaging;
struct DamageKind {
  std::string_view name;
  std::optional<ufs::FindingKind>
      shows;                     ///< what a check then finds; nothing: that depends on the image
  bool (*put)(Damaging& image);  ///< false: this image has nothing for it; nothing is changed
};
/// All of them, in the order in which they are drawn from.
const std::vector<DamageKind>& damage_kinds();
/// By folder of ideas; damage_kinds() is all four.
std::span<const DamageKind> damage_of_inodes();
std::span<const DamageKind> damage_of_names();
std::span<const DamageKind> damage_of_maps();
std::span<const DamageKind> damage_of_features();  ///< the last ones: of images with such only

/// An image that is being damaged: what the kinds are written in.
class Damaging {
 public:
  /// `store` shows the surveyed image. All must outlive it.
  Damaging(const ImageSurvey& survey, model::SectorStore& store, std::uint64_t seed);

  /// False: the image has nothing for it.
  bool add(const DamageKind& kind);
  /// One to four, and in most images the flag says "not clean".
  void draw();
  /// In a line: "inode-cleared: inode 7; ...".
  const std::string& words() const { return words_; }
  /// After the last damage.
  const Permitted& permitted();
  std::size_t count() const { return count_; }

  // For the kinds. Numbers are drawn from the seed.
  const ImageSurvey& survey() const { return survey_; }
  const ufs::Geometry& geometry() const { return survey_.geometry(); }
  std::uint64_t below(std::uint64_t bound) { return random_.below(bound); }
  bool one_in(std::uint64_t n) { return random_.below(n) == 0; }
  Permitted& may() { return permitted_; }
  void say(const std::string& words);

  using Suits = std::function<bool(ufs::InodeNumber)>;
  /// An allocated inode that no damage has yet, and takes it; 0: there is none.
  ufs::InodeNumber take_inode(const Suits& suits);
  /// A directory that may be damaged by others, too.
  ufs::InodeNumber any_directory(const Suits& suits);
  ufs::InodeNumber take_free_inode();
  /// A name in a directory, of an inode that no damage has yet, and takes the inode.
  std::optional<PlacedName> take_name(const std::function<bool(const PlacedName&)>& suits);
  /// A free block, or 0; the first ones when `first`.
  ufs::FragmentAddress take_free_block();
  bool is_taken(ufs::InodeNumber number) const { return taken_[number]; }
  void take(ufs::InodeNumber number) { taken_[number] = true; }

  using Change = std::function<void(std::span<std::byte>)>;
  void change(std::uint64_t lba, std::uint32_t sectors, const Change& change);
  void change_inode(ufs::InodeNumber number, const std::function<void(ufs::Inode&)>& change);
  ufs::Inode load(ufs::InodeNumber number) const;
  void change_extension(ufs::InodeNumber number,
                        const std::function<void(ufs::InodeExtension&)>& change);
  /// What a check believes of it; empty: nothing.
  ufs::BmapCache load_bmap(ufs::InodeNumber number) const;
  /// The chunk of 512 bytes that a name lies in.
  void change_chunk(const PlacedName& name, const Change& change);
  void change_pointer(const OwnedRun& run, ufs::FragmentAddress to);
  /// Adds a name where a directory has room for it; false: it has none.
  bool add_name(ufs::InodeNumber directory, const std::string& name, ufs::InodeNumber named,
                std::uint8_t type);
  void remove_name(const PlacedName& name);
  void fill_with_noise(std::span<std::byte> bytes);

  // What may be lost.
  void lose_name(const PlacedName& name);
  void lose_inode(ufs::InodeNumber number);
  void lose_names(ufs::InodeNumber directory, std::uint64_t from_byte);
  /// What a pointer leads to, and of a directory all that lies behind.
  void lose_run(std::size_t run);
  /// The inode is as it is now: who has to give up blocks that it claims.
  void contend(ufs::InodeNumber number);

 private:
  void lose_bytes(const OwnedRun& run);
  bool prefers(ufs::InodeNumber kept, ufs::InodeNumber other, const ufs::Inode& now) const;
  struct Claimant {
    ufs::InodeNumber number;
    ufs::Inode now;
    ufs::BmapCache bmap;
    std::uint32_t steps = 0;  ///< pointers that have been met
  };
  void claim(Claimant& claimant, ufs::FragmentAddress at, std::uint32_t level, std::uint64_t block);

  const ImageSurvey& survey_;
  model::SectorStore& store_;
  Random random_;
  Permitted permitted_;
  std::vector<bool> taken_;           ///< by inode
  std::vector<bool> taken_fragment_;  ///< of the free ones
  std::string words_;
  std::size_t count_ = 0;
};

}  // namespace headcrash::ufs::damage
