// The fast check (fsck.h): examines only busy items (Peacock, Kamaraju and Agrawal 1998, section
// 5).
//
//   1  headers of all groups: counts; in groups with the superblock's generation, busy
//      inodes and fragments. With the feature busy-map (busy_map.h), only headers of groups with a
//      busy record, and the records of the others
//   2  busy inodes, as in phase 1: sizes, pointers, sectors; owners of busy fragments
//   3  link tags: counts the names to which tags refer, and corrects link counts; if a directory
//      has two names, removes one; frees inodes without names and links
//   4  maps of busy groups, for busy inodes and fragments only; counts of these groups; totals
//
// The result equals that of the full check, in one pass.
//
// An interrupted check can be restarted. A link count and its tags are in one sector, so they are
// corrected together. Space is marked as free in the maps before the inode that used the space is
// cleared. The marks stay valid until the last write, which writes the next generation to the
// superblock. Until then, all busy groups stay on the busy map. A restarted check does not examine
// groups that are not on the map. If a removed inode had blocks in such a group, the new counts of
// the group are therefore written before the inode is cleared.
//
// Damage that a power cut cannot cause is left to the full check. Until the fast check finds such
// damage, it makes only changes that the full check would also make.

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "fs-adapters/ufs/core/cylinder_group.h"
#include "fs-adapters/ufs/fsck/fsck_state.h"
#include "fs-adapters/ufs/netra/busy_map.h"
#include "fs-adapters/ufs/netra/busy_marks.h"

namespace headcrash::ufs {
class FastCheck {
 public:
  explicit FastCheck(Fsck::State& state) : s_(state), geometry_(state.geometry) {}

  /// Runs the check. Returns false if a full check is needed.
  bool run() {
    if (!read_groups() || !check_inodes()) return false;
    for (BusyInode& busy : inodes_)
      if (!count_names(busy)) return false;
    for (BusyInode& busy : inodes_)
      if (!correct_links(busy)) return false;
    free_removed();
    write_groups();
    write_counts_of_quiet_groups();
    for (const BusyInode& busy : inodes_)
      if (busy.goes) s_.clear_inode(busy.number, busy.inode);
    s_.check_totals();
    return !s_.stopped();
  }

 private:
  struct BusyGroup {
    std::uint32_t number = 0;
    std::vector<std::byte> header, before;
    bool live = false;  ///< the group's marks are valid
  };

  struct BusyInode {
    InodeNumber number = 0;
    Inode inode;
    InodeExtension beside;
    /// For a directory whose tags refer to names: the directory that contains its name, or 0 if no
    /// name was found. Unset for other inodes.
    std::optional<InodeNumber> parent = {};
    bool goes = false;
  };

  struct NamePlace {
    InodeNumber directory = 0;
    FragmentAddress block = 0;
    std::uint64_t at = 0;  ///< position in the directory, by which names are sorted
    std::uint32_t offset = 0;
    std::size_t tag = 0;
  };

  bool live_tags(const BusyInode& busy) const {
    return busy.inode.allocated() && !busy.beside.live_tags(s_.superblock.generation).empty();
  }

  GroupRecord record_of(std::uint32_t group) const {
    return decode_group_record(
        std::span(records_).subspan(std::size_t{group} * kSummaryBytes, kSummaryBytes),
        s_.superblock.features);
  }

  /// Reads the map of busy groups. If the file system has none, all groups are treated as busy.
  bool read_map() {
    if (!s_.superblock.features.busy_map) return true;
    records_.resize(std::size_t{geometry_.fragments_of(s_.superblock.summary_bytes)} *
                    geometry_.fragment_bytes());
    return s_.read(s_.superblock.summary_address, records_);
  }

  bool read_groups() {
    if (!read_map()) return false;
    std::vector<InodeNumber> numbers;
    for (std::uint32_t number = 0; number < geometry_.groups(); ++number) {
      if (const GroupRecord record =
              records_.empty() ? GroupRecord{.busy = true} : record_of(number);
          !record.busy) {
        if (!possible_counts(geometry_, number, record.counts)) return false;
        s_.summaries.push_back(record.counts);
        continue;
      }
      // Reads the header and the foreign block in one request, because the seek to the group takes
      // longer than the transfer.
      const std::size_t length = geometry_.block_bytes();
      std::vector<std::byte> blocks(s_.superblock.features.foreign_block ? 2 * length : length);
      if (!s_.read(geometry_.header(number), blocks)) return false;
      BusyGroup group{
          .number = number,
          .header = {blocks.begin(), blocks.begin() + static_cast<std::ptrdiff_t>(length)}};
      if (!CylinderGroup::problem_of(geometry_, group.header, number).empty()) return false;
      s_.summaries.push_back(CylinderGroup(geometry_, group.header, number).totals());
      const BusyMarks marks(geometry_, group.header, number);
      if (marks.generation() != s_.superblock.generation) continue;
      group.live = true;
      group.before = group.header;
      const InodeNumber first = number * geometry_.inodes_per_group();
      for (std::uint32_t i = 0; i < geometry_.inodes_per_group(); ++i)
        if (marks.inode_busy(i)) numbers.push_back(first + i);
      const auto foreign = marks.foreign_inodes();
      numbers.insert(numbers.end(), foreign.begin(), foreign.end());
      const auto more = ForeignBlock(std::span(blocks).subspan(length)).inodes();
      numbers.insert(numbers.end(), more.begin(), more.end());
      groups_.push_back(std::move(group));
    }
    std::ranges::sort(numbers);
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    for (const InodeNumber number : numbers) {
      if (!geometry_.is_inode(number)) return false;
      inodes_.push_back({.number = number});
    }
    return true;
  }

  void load(BusyInode& busy) {
    std::array<std::byte, 2 * kInodeBytes> bytes = {};
    if (!s_.read_slots(busy.number, bytes)) return;
    busy.inode = decode_inode(std::span(bytes).first(kInodeBytes));
    busy.beside = decode_extension(std::span(bytes).subspan(kInodeBytes));
  }
  void check(const BusyInode& busy) {
    std::array<std::byte, 2 * kInodeBytes> bytes = {};
    encode_inode(busy.inode, std::span(bytes).first(kInodeBytes));
    encode_extension(busy.beside, std::span(bytes).subspan(kInodeBytes));
    s_.check_inode(busy.number, bytes);
  }

  /// Runs phase 1 for busy inodes only.
  bool check_inodes() {
    s_.begin_inodes();
    s_.holding_back = true, s_.held_back = false;
    for (BusyInode& busy : inodes_) {
      load(busy);
      if (s_.stopped()) return false;
      if (!busy.inode.allocated()) {
        if (busy.inode.size_bytes != 0) return false;
        continue;
      }
      check(busy);
      if (s_.type[busy.number] == 0) return false;
      load(busy);
    }
    s_.holding_back = false;
    if (s_.duplicates || s_.again) return false;
    if (!s_.held_back) return true;
    s_.begin_inodes();
    for (BusyInode& busy : inodes_) {
      if (!busy.inode.allocated()) continue;
      s_.quiet = true;
      check(busy);
      s_.quiet = false;
    }
    return !s_.duplicates && !s_.again && !s_.stopped();
  }

  BusyInode* find(InodeNumber number) {
    const auto at = std::ranges::lower_bound(inodes_, number, {}, &BusyInode::number);
    return at != inodes_.end() && at->number == number ? &*at : nullptr;
  }

  /// Returns the address of a directory block; 0 if it is missing.
  FragmentAddress block_of(const Inode& directory, std::uint64_t block) {
    if (!directory.is_directory() || block >= geometry_.blocks_of_size(directory.size_bytes))
      return 0;
    const BlockPath path = geometry_.path_of(block);
    FragmentAddress at =
        path.levels == 0 ? directory.direct[path.index[0]] : directory.indirect[path.levels - 1];
    std::vector<std::byte> pointers(geometry_.block_bytes());
    for (std::uint32_t level = 0; level < path.levels && at != 0; ++level) {
      if (!geometry_.is_data(at) || !s_.read(at, pointers)) return 0;
      std::memcpy(&at, pointers.data() + std::size_t{path.index[level]} * 4, 4);
    }
    return geometry_.is_data(at) ? at : 0;
  }

  /// Finds an inode's entries in the chunks of a directory, from chunk `first` up to but not
  /// including `end`.
  void find_names(InodeNumber inode, InodeNumber in, std::uint64_t first, std::uint64_t end,
                  std::size_t tag, std::vector<NamePlace>& names) {
    if (!geometry_.is_inode(in)) return;
    const Inode directory = s_.load(in);
    if (!directory.is_directory()) return;
    end = std::min(end, directory.size_bytes / tree::kChunkBytes);
    const std::uint32_t chunks_of_block = geometry_.block_bytes() / tree::kChunkBytes;
    for (std::uint64_t number = first; number < end && !s_.stopped(); ++number) {
      const FragmentAddress at = block_of(directory, number / chunks_of_block);
      std::array<std::byte, tree::kChunkBytes> chunk = {};
      const std::uint64_t in_block = number % chunks_of_block;
      if (at == 0 || !s_.read_sectors(geometry_.lba_of(at) + in_block, chunk)) return;
      tree::DirectoryCursor cursor(chunk);
      while (const auto entry = cursor.next())
        if (entry->inode == inode && !entry->is_dot() && !entry->is_dot_dot())
          names.push_back(
              {.directory = in,
               .block = at,
               .at = number * tree::kChunkBytes + entry->offset,
               .offset = static_cast<std::uint32_t>(in_block * tree::kChunkBytes + entry->offset),
               .tag = tag});
    }
  }

  /// Phases 2 and 3: counts the names to which an inode's tags refer. If a directory has two names,
  /// keeps only one of them.
  bool count_names(BusyInode& busy) {
    if (!live_tags(busy)) return true;
    std::vector<NamePlace> names;
    auto& found = found_[busy.number];
    const auto& tags = busy.beside.tags;
    found.assign(tags.size(), 0);
    bool any = false;
    for (std::size_t i = 0; i < tags.size(); ++i) {
      if (tags[i].chunk == LinkTag::kDotDot) continue;
      const bool whole = tags[i].chunk == LinkTag::kWholeDirectory;
      any = true;
      find_names(busy.number, tags[i].directory, whole ? 0 : tags[i].chunk,
                 whole ? UINT64_MAX : std::uint64_t{tags[i].chunk} + 1, i, names);
    }
    if (any && busy.inode.is_directory()) keep_one(busy, names);
    for (const NamePlace& name : names) ++found[name.tag];
    return !s_.stopped();
  }

  /// If a directory has two names, keeps one. Like the full check (fsck_names.cc), prefers the name
  /// in the directory to which ".." refers; otherwise, keeps the first name.
  void keep_one(BusyInode& busy, std::vector<NamePlace>& names) {
    std::ranges::sort(names, {}, [](const NamePlace& n) { return std::pair(n.directory, n.at); });
    busy.parent = 0;
    if (names.empty()) return;
    NamePlace kept = names.front();
    const InodeNumber dot_dot = dot_dot_of(busy.inode);
    for (std::size_t i = 1; i < names.size(); ++i) {
      const NamePlace& other = names[i];
      const bool newer = other.directory != kept.directory && dot_dot == other.directory;
      const NamePlace goes = newer ? kept : other;
      if (newer) kept = other;
      s_.find(
          FindingKind::directory_second_name, busy.number, 0, 1,
          fmt::format("directory {}: has names in directories {} and {}; the one in {} is removed",
                      busy.number, kept.directory, goes.directory, goes.directory));
      s_.remove_name(goes.block, goes.offset);
    }
    names = {kept};
    busy.parent = kept.directory;
  }

  InodeNumber dot_dot_of(const Inode& directory) {
    std::array<std::byte, tree::kChunkBytes> chunk = {};
    const FragmentAddress at = block_of(directory, 0);
    if (at == 0 || !s_.read(at, chunk)) return 0;
    const auto entry = tree::find_entry(chunk, "..");
    return entry ? entry->inode : 0;
  }

  /// Returns the directory that contains the name of the directory `child`.
  InodeNumber parent_of(InodeNumber child) {
    if (const BusyInode* const busy = find(child); busy != nullptr && busy->parent)
      return *busy->parent;
    if (!geometry_.is_inode(child)) return 0;
    const Inode inode = s_.load(child);
    return inode.is_directory() && inode.links > 0 ? dot_dot_of(inode) : 0;
  }

  bool correct_links(BusyInode& busy) {
    if (!busy.inode.allocated()) return true;
    std::int64_t links = busy.inode.links;
    const auto& tags = busy.beside.tags;
    if (live_tags(busy)) {
      for (std::size_t i = 0; i < tags.size(); ++i) {
        const std::int64_t there = tags[i].chunk == LinkTag::kDotDot
                                       ? (parent_of(tags[i].directory) == busy.number ? 1 : 0)
                                       : found_[busy.number][i];
        links += (there - tags[i].entries) * tags[i].links;
      }
    }
    if (links < 0 || links > std::int64_t{kLinksMax}) return false;
    busy.goes =
        busy.inode.is_directory() ? (busy.parent ? *busy.parent == 0 : links == 0) : links == 0;
    if (busy.goes) {
      s_.find(FindingKind::unreferenced_file, busy.number, 0, 0,
              fmt::format("inode {}: has no name; freed", busy.number));
      return true;
    }
    if (links == busy.inode.links) return true;
    s_.find(links < busy.inode.links ? FindingKind::links_too_high : FindingKind::links_lowered,
            busy.number, 0, 1,
            fmt::format("inode {}: has link count {}, but {} links", busy.number, busy.inode.links,
                        links));
    busy.inode.links = static_cast<std::uint16_t>(links);
    s_.save(busy.number, busy.inode, Fsck::State::ExtensionFate::without_tags);
    return !s_.stopped();
  }

  BusyGroup* group_of(std::uint32_t number) {
    const auto at = std::ranges::lower_bound(groups_, number, {}, &BusyGroup::number);
    if (at != groups_.end() && at->number == number) return &*at;
    BusyGroup group{.number = number, .header = std::vector<std::byte>(geometry_.block_bytes())};
    if (!s_.read(geometry_.header(number), group.header)) return nullptr;
    group.before = group.header;
    return &*groups_.insert(at, std::move(group));
  }

  /// Frees all blocks of removed inodes, even those in quiet groups.
  void free_removed() {
    for (BusyInode& busy : inodes_) {
      if (!busy.goes) continue;
      s_.type[busy.number] = 0;
      if (pointers_are_text(busy.inode, geometry_.inline_target_max())) continue;
      CheckedInode copy{.inode = busy.inode, .bmap = busy.beside.bmap};
      s_.walk(copy, [&](const FilePointer& p) {
        if (!s_.data_run(p.at, p.fragments)) return Verdict::stay;
        s_.map.release(p.at, p.fragments);
        BusyGroup* const group = group_of(geometry_.group_of_fragment(p.at));
        if (group == nullptr) return Verdict::stay;
        CylinderGroup map(geometry_, group->header, group->number);
        for (std::uint32_t f = 0; f < p.fragments; ++f)
          map.set_fragment_free(geometry_.index_in_group(p.at) + f, true);
        return Verdict::follow;
      });
    }
  }

  void write_groups() {
    for (BusyGroup& group : groups_) {
      CylinderGroup map(geometry_, group.header, group.number);
      std::uint32_t directories = map.totals().directories;
      if (group.live)
        directories = repair_maps(map, BusyMarks(geometry_, group.header, group.number));
      map.recount();
      Summary totals = map.totals();
      totals.directories = directories;
      map.set_totals(totals);
      s_.summaries[group.number] = totals;
      if (group.header == group.before) continue;
      s_.find(FindingKind::group_totals, 0, geometry_.header(group.number), 0,
              fmt::format("group {}: its maps are stale", group.number));
      s_.write(geometry_.header(group.number), group.header);
    }
  }

  /// Writes the new counts of those quiet groups in which a removed inode had blocks.
  void write_counts_of_quiet_groups() {
    bool changed = false;
    for (const BusyGroup& group : groups_) {
      if (records_.empty() || record_of(group.number).busy || group.header == group.before)
        continue;
      encode_group_record(
          {.counts = s_.summaries[group.number]},
          std::span(records_).subspan(std::size_t{group.number} * kSummaryBytes, kSummaryBytes));
      changed = true;
    }
    if (changed) s_.write(s_.superblock.summary_address, records_);
  }

  /// Corrects the bits of busy fragments and busy inodes in a group's maps. Returns the group's
  /// number of directories.
  std::uint32_t repair_maps(CylinderGroup& map, const BusyMarks& marks) {
    const FragmentAddress base = geometry_.group_base(map.group());
    for (std::uint32_t f = 0; f < map.fragments(); ++f)
      if (marks.fragment_busy(f)) map.set_fragment_free(f, !s_.map.taken(base + f, 1));
    std::uint32_t directories = marks.quiet_directories();
    const InodeNumber first = map.group() * geometry_.inodes_per_group();
    for (std::uint32_t i = 0; i < geometry_.inodes_per_group(); ++i) {
      if (!marks.inode_busy(i)) continue;
      const std::uint8_t type = s_.type[first + i];
      map.set_inode_used(i, type != 0);
      if (marks.inode_was_directory(i)) --directories;
      if (type == entry_type(kTypeDirectory)) ++directories;
    }
    return directories;
  }

  Fsck::State& s_;
  const Geometry& geometry_;
  /// Group records (busy_map.h); empty if the file system has no map.
  std::vector<std::byte> records_;
  /// Busy groups, and quiet groups in which a removed inode had blocks.
  std::vector<BusyGroup> groups_;
  std::vector<BusyInode> inodes_;  ///< sorted by number
  /// Names found, by the inode to which they refer.
  std::map<InodeNumber, std::vector<std::int64_t>> found_;
};

bool Fsck::State::fast_check() {
  if (!superblock.features.fast_check || superblock.full_check ||
      superblock_byte != kSuperblockByte)
    return false;
  if (superblock.clean) return report.fast = true;
  summaries.clear();
  again = false;
  FastCheck check(*this);
  if (!check.run()) return false;
  report.fast = true;
  return true;
}

}  // namespace headcrash::ufs
