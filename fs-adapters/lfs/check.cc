#include "fs-adapters/lfs/check.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "fs-adapters/lfs/image_reader.h"
#include "plugin/base/names.h"

namespace headcrash::lfs {
class Checker::State {
  /// Limit on the total size of all inodes' blocks, as a multiple of the size of the log. Blocks
  /// beyond the limit are not visited. Without the limit, the check would report every overlap of
  /// blocks; with it, the check reports one damaged pointer.
  static constexpr std::uint64_t kTimesMost = 4;

  /// The owner of a run of sectors.
  struct Owner {
    Content content = Content::data;
    InodeNumber inode = 0;
    std::uint32_t version = 0;
    std::uint32_t index = 0;
    std::uint32_t sectors = 0;
  };

  /// The result of reading an inode. `problem` describes the error if the inode could not be read.
  struct KeptInode {
    MapEntry entry;
    Sources sources;
    std::optional<Inode> inode;
    std::string problem;
    struct Owned {
      SectorAddress address = 0;
      Owner owner;
    };
    std::vector<Owned> blocks;
    std::uint64_t sectors = 0;  ///< number of sectors in all of the inode's blocks
    std::string pointer_problem;
    struct Names {
      Sources sources;
      std::vector<NamedInode> names;
      std::string problem;
    };
    std::optional<Names> names;  ///< set once a directory's names have been read

    // The following members are computed again in each comparison of inodes, names and summaries.
    std::uint32_t links = 0;
    bool has_parent = false;
  };

  struct KeptSegment {
    Sources sources;
    std::vector<ImageReader::Described> described;
    std::string problem;
  };

 public:
  Result<CheckReport> check(const model::SectorStore& store, const Contents& contents) {
    store_.show(store);
    contents_ = &contents;
    if (!contents.known()) forget();
    const auto anew = open();
    if (!anew) {
      forget();
      return forward_error(anew);
    }
    bool changed = *anew || !has_report_;
    if (changed) list_inodes();
    changed = refresh_inodes() || changed;
    changed = refresh_segments() || changed;
    if (changed) compare();
    has_report_ = true;
    return report_;
  }

 private:
  // Results that earlier checks have computed.

  void forget() {
    if (reader_) clear();
    reader_.reset();
    inodes_.clear();
    sectors_ = 0;
    segments_.clear();
    allocated_.clear();
    has_report_ = false;
  }

  Result<bool> open() {
    if (reader_) {
      auto changed = reader_->refresh(*contents_);
      if (changed) return changed;
      forget();
    }
    TRY(auto reader, ImageReader::open(store_, *contents_));
    reader_.emplace(std::move(reader));
    const Superblock& s = superblock();
    inodes_.resize(s.inodes);
    segments_.resize(s.segments);
    live_.assign(s.segments, 0);
    used_.resize(std::size_t{s.segments} * s.segment_sectors);
    owner_at_.resize(used_.size());
    return true;
  }

  void list_inodes() {
    std::swap(allocated_, before_);
    allocated_.clear();
    for (InodeNumber number = 0; number < superblock().inodes; ++number)
      if (r().map()[number].allocated()) allocated_.push_back(number);
    for (const InodeNumber number : before_)
      if (!r().map()[number].allocated()) forget_inode(inodes_[number]);
  }

  void forget_inode(std::unique_ptr<KeptInode>& kept) {
    if (kept) sectors_ -= kept->sectors;
    kept.reset();
  }

  /// Rereads changed inodes. Returns true if any result has changed.
  bool refresh_inodes() {
    bool changed = false;
    for (const InodeNumber number : allocated_) {
      auto& kept = inodes_[number];
      if (kept && kept->entry == r().map()[number] && kept->sources.unchanged(*contents_)) {
        if (!kept->names || kept->names->sources.unchanged(*contents_)) continue;
        kept->names.reset();
      } else {
        forget_inode(kept);
        kept = std::make_unique<KeptInode>(read_inode(number));
        sectors_ += kept->sectors;
      }
      changed = true;
    }
    return changed;
  }

  KeptInode read_inode(InodeNumber number) {
    store_.begin();
    KeptInode kept{.entry = r().map()[number]};
    auto inode = r().inode(number);
    if (!inode) {
      kept.problem = inode.error().message();
    } else {
      tree::BlockBudget budget(kTimesMost * superblock().log_sectors() - sectors_);
      const auto done = r().each_block(*inode, budget, [&](const ImageReader::Block& block) {
        kept.sectors += block.bytes / kSectorBytes;
        kept.blocks.push_back({block.address,
                               {static_cast<Content>(block.id.level), number, inode->version,
                                block.id.index, block.bytes / kSectorBytes}});
      });
      if (!done) kept.pointer_problem = done.error().message();
      kept.inode = *inode;
    }
    kept.sources = store_.sources(*contents_);
    return kept;
  }

  const KeptInode::Names& names_of(KeptInode& directory) {
    if (directory.names) return *directory.names;
    store_.begin();
    KeptInode::Names kept;
    auto names = r().entries(*directory.inode);
    if (names)
      kept.names = *std::move(names);
    else
      kept.problem = names.error().message();
    kept.sources = store_.sources(*contents_);
    return directory.names.emplace(std::move(kept));
  }

  bool refresh_segments() {
    bool changed = false;
    for (auto& segment : segments_) {
      if (!segment || segment->sources.unchanged(*contents_)) continue;
      segment.reset();
      changed = true;
    }
    return changed;
  }

  const KeptSegment& segment(SegmentNumber number) {
    auto& kept = segments_[number];
    if (kept) return *kept;
    kept = std::make_unique<KeptSegment>();
    store_.begin();
    auto described = r().summaries(number);
    if (described)
      kept->described = std::move(described->blocks);
    else
      kept->problem = described.error().message();
    kept->sources = store_.sources(*contents_);
    return *kept;
  }

  // Compares inodes, names and summaries with each other.

  void compare() {
    clear();
    check_inodes();
    check_tables();
    check_names();
    check_links();
    check_segments();
    check_summaries();
    check_totals();
  }

  void clear() {
    report_ = {};
    addresses_ = inodes_found_ = 0;
    summary_findings_ = false;
    for (const auto& [address, owner] : owners_) {
      const std::size_t first = address - superblock().first_segment;
      owner_at_[first] = 0;
      std::fill_n(used_.begin() + static_cast<std::ptrdiff_t>(first), owner.sectors,
                  std::uint8_t{0});
    }
    owners_.clear();
    std::fill(live_.begin(), live_.end(), 0);
    for (const InodeNumber number : allocated_)
      if (inodes_[number]) inodes_[number]->links = 0, inodes_[number]->has_parent = false;
  }

  void find(FindingKind kind, std::string text) {
    if (report_.findings.size() < CheckReport::kFindingsMax)
      report_.findings.push_back({kind, std::move(text)});
  }

  void own(SectorAddress address, const Owner& owner, std::uint32_t bytes) {
    live_[superblock().segment_of(address)] += bytes;
    bool twice = false;
    const std::size_t first = address - superblock().first_segment;
    for (std::size_t i = first; i < first + owner.sectors; ++i) {
      twice = twice || used_[i] != 0;
      used_[i] = 1;
    }
    if (twice && owner.content != Content::inodes)
      find(FindingKind::doubly_used,
           fmt::format("sectors {} to {}: also claimed by inode {}, block {} of kind {}", address,
                       address + owner.sectors - 1, owner.inode, owner.index,
                       static_cast<int>(owner.content)));
    owners_.emplace_back(address, owner);
    if (owner_at_[first] == 0) {
      owner_at_[first] = static_cast<std::uint32_t>(owners_.size());
      ++addresses_;
    } else if (owner.content != Content::inodes) {
      find(FindingKind::doubly_used, fmt::format("address {}", address));
    }
  }
  /// Returns the owner that claimed the block at `address`; null if no block begins there.
  const Owner* owner_of(SectorAddress address) const {
    const std::size_t at = address - superblock().first_segment;
    return at < owner_at_.size() && owner_at_[at] != 0 ? &owners_[owner_at_[at] - 1].second
                                                       : nullptr;
  }

  void check_inodes() {
    for (const InodeNumber number : allocated_) {
      const KeptInode& kept = *inodes_[number];
      if (!kept.inode) {
        find(FindingKind::inode, kept.problem);
        continue;
      }
      const Inode& inode = *kept.inode;
      ++inodes_found_;
      if (inode.version != kept.entry.version)
        find(FindingKind::inode,
             fmt::format("inode {}: has version {}, but version {} in the inode map", number,
                         inode.version, kept.entry.version));
      if (!inode.is_directory() && !inode.is_regular() && !inode.is_symlink())
        find(FindingKind::inode, fmt::format("inode {}: invalid mode {:o}", number, inode.mode));
      if (inode.size_bytes > superblock().file_bytes_max())
        find(FindingKind::inode,
             fmt::format("inode {}: invalid size of {} bytes", number, inode.size_bytes));
      own_inode_sector(kept.entry.address);
      own_blocks(kept);
      (inode.is_directory() ? report_.directories : report_.files)++;
    }
  }

  /// Claims a sector for an inode. Several inodes may share the sector, but nothing else may use
  /// it.
  void own_inode_sector(SectorAddress address) {
    const Owner* const known = owner_of(address);
    if (known != nullptr && known->content == Content::inodes) {
      live_[superblock().segment_of(address)] += kInodeBytes;
      return;
    }
    if (used_[address - superblock().first_segment] != 0)
      find(FindingKind::doubly_used, fmt::format("sector {}: also claimed for inodes", address));
    own(address, {.content = Content::inodes, .sectors = 1}, kInodeBytes);
  }

  void own_blocks(const KeptInode& kept) {
    const Inode& inode = *kept.inode;
    std::uint32_t sectors = 0;
    for (const auto& [address, owner] : kept.blocks) {
      sectors += owner.sectors;
      own(address, owner, owner.sectors * kSectorBytes);
    }
    if (!kept.pointer_problem.empty()) return find(FindingKind::pointer, kept.pointer_problem);
    if (sectors != inode.sectors)
      find(FindingKind::pointer,
           fmt::format("inode {}: uses {} sectors, but its sector count is {}", inode.number,
                       sectors, inode.sectors));
  }

  void check_tables() {
    const auto table = [&](const std::vector<SectorAddress>& blocks, Content content) {
      for (std::uint32_t i = 0; i < blocks.size(); ++i)
        if (blocks[i] != 0)
          own(blocks[i], {content, 0, 0, i, superblock().block_sectors()},
              superblock().block_bytes);
    };
    table(r().checkpoint().map_blocks, Content::inode_map);
    table(r().checkpoint().usage_blocks, Content::usage);
  }

  /// Returns null if there is no such inode.
  KeptInode* found(InodeNumber number) {
    KeptInode* const kept = number < inodes_.size() ? inodes_[number].get() : nullptr;
    return kept != nullptr && kept->inode ? kept : nullptr;
  }

  void check_names() {
    KeptInode* const root = found(kRootInode);
    if (root == nullptr || !root->inode->is_directory())
      return find(FindingKind::inode, "there is no root directory");
    std::vector<std::pair<InodeNumber, InodeNumber>> to_see{{kRootInode, kRootInode}};
    root->has_parent = true;
    while (!to_see.empty()) {
      const auto [number, parent] = to_see.back();
      to_see.pop_back();
      const KeptInode::Names& kept = names_of(*found(number));
      if (!kept.problem.empty()) {
        find(FindingKind::name, kept.problem);
        continue;
      }
      check_dots(number, parent, kept.names);
      for (const NamedInode& one : kept.names) {
        if (one.name == "." || one.name == "..") continue;
        KeptInode* const target = check_name(number, one);
        if (target == nullptr || !target->inode->is_directory()) continue;
        if (!std::exchange(target->has_parent, true)) to_see.emplace_back(one.inode, number);
      }
    }
  }

  void check_dots(InodeNumber number, InodeNumber parent, const std::vector<NamedInode>& names) {
    const bool right = names.size() >= 2 && names[0].name == "." && names[0].inode == number &&
                       names[1].name == ".." && names[1].inode == parent;
    if (!right)
      find(FindingKind::name, fmt::format("directory {}: its \".\" or \"..\" is wrong", number));
    ++found(number)->links;
    ++found(parent)->links;
  }

  /// Checks the entry `one` of a directory. Returns the inode to which the entry refers, or null if
  /// that inode does not exist.
  KeptInode* check_name(InodeNumber directory, const NamedInode& one) {
    KeptInode* const target = found(one.inode);
    if (target == nullptr) {
      find(FindingKind::name,
           fmt::format("directory {}: '{}' refers to inode {}, which does not exist", directory,
                       one.name, one.inode));
      return nullptr;
    }
    if (tree::entry_type(target->inode->mode) != one.type)
      find(FindingKind::name,
           fmt::format("directory {}: '{}' has the wrong type", directory, one.name));
    if (target->inode->is_directory() && target->has_parent)
      find(FindingKind::name, fmt::format("directory {}: '{}' is the second name of a directory",
                                          directory, one.name));
    ++target->links;
    return target;
  }

  void check_links() {
    for (const InodeNumber number : allocated_) {
      const KeptInode* const kept = found(number);
      if (kept == nullptr) continue;
      const Inode& inode = *kept->inode;
      const std::uint32_t links = kept->links;
      if (links == 0 && inode.links == 0 && kept->entry.unlinked)
        continue;  // the inode was unlinked while open, so it has no name
      if (links == 0)
        find(FindingKind::unreachable,
             fmt::format("inode {} has no name, but its link count is {}", number, inode.links));
      else if (links != inode.links)
        find(FindingKind::links, fmt::format("inode {}: has {} links, but its link count is {}",
                                             number, links, inode.links));
    }
  }

  void check_segments() {
    const Checkpoint& c = r().checkpoint();
    for (SegmentNumber i = 0; i < superblock().segments; ++i) {
      const SegmentUsage& usage = r().usage()[i];
      if (r().live_bytes(i) != live_[i])
        find(FindingKind::usage, fmt::format("segment {}: {} live bytes, but {} in the usage table",
                                             i, live_[i], r().live_bytes(i)));
      const bool active = i == c.segment || i == c.next_segment;
      if (active != (usage.state == SegmentState::active) ||
          (usage.state == SegmentState::clean && live_[i] != 0))
        find(FindingKind::segment, fmt::format("segment {}: invalid state {} with {} live bytes", i,
                                               static_cast<int>(usage.state), live_[i]));
    }
  }

  void check_summaries() {
    std::uint32_t described = 0;
    for (SegmentNumber i = 0; i < superblock().segments; ++i) {
      if (live_[i] == 0) continue;
      const KeptSegment& kept = segment(i);
      if (!kept.problem.empty()) find(FindingKind::summary, kept.problem);
      for (const auto& [address, entry] : kept.described) described += described_by(entry, address);
    }
    if (described < addresses_ && !summary_findings_)
      find(FindingKind::summary, fmt::format("{} of {} live blocks are in no summary",
                                             addresses_ - described, addresses_));
  }

  std::uint32_t described_by(const SummaryEntry& entry, SectorAddress address) {
    if (entry.content == Content::inodes) {
      std::uint32_t count = 0;
      for (std::uint32_t i = 0; i < entry.sectors; ++i) {
        const Owner* const owner = owner_of(address + i);
        if (owner != nullptr && owner->content == Content::inodes) ++count;
      }
      return count;
    }
    const Owner* const owner = owner_of(address);
    if (owner == nullptr) return 0;
    const Owner& o = *owner;
    const bool right = o.content == entry.content && o.index == entry.index &&
                       o.sectors == entry.sectors &&
                       (!entry.of_file() || (o.inode == entry.inode && o.version == entry.version));
    if (!right) {
      summary_findings_ = true;
      find(FindingKind::summary,
           fmt::format("address {} belongs to inode {}, block {}, version {}; its summary "
                       "has inode {}, block {}, version {}",
                       address, o.inode, o.index, o.version, entry.inode, entry.index,
                       entry.version));
    }
    return 1;
  }

  void check_totals() {
    const Checkpoint& c = r().checkpoint();
    for (const std::uint32_t bytes : live_) report_.live_bytes += bytes;
    report_.clean = c.clean;
    if (c.live_bytes != report_.live_bytes)
      find(FindingKind::totals, fmt::format("{} live bytes, but the checkpoint claims {}",
                                            report_.live_bytes, c.live_bytes));
    if (c.files != inodes_found_)
      find(FindingKind::totals,
           fmt::format("{} files, but the checkpoint claims {}", inodes_found_, c.files));
    const auto clean =
        std::count_if(r().usage().begin(), r().usage().end(),
                      [](const SegmentUsage& usage) { return usage.state == SegmentState::clean; });
    if (clean != c.clean_segments)
      find(FindingKind::totals,
           fmt::format("{} clean segments, but the checkpoint claims {}", clean, c.clean_segments));
  }

  const ImageReader& r() const { return *reader_; }
  const Superblock& superblock() const { return reader_->superblock(); }

  NotedStore store_;
  const Contents* contents_ = nullptr;  ///< digests of the image that is being checked
  std::optional<ImageReader> reader_;
  std::vector<InodeNumber> allocated_, before_;
  std::vector<std::unique_ptr<KeptInode>> inodes_;      ///< results by inode number
  std::uint64_t sectors_ = 0;                           ///< number of sectors in all inodes' blocks
  std::vector<std::unique_ptr<KeptSegment>> segments_;  ///< results by segment number
  bool has_report_ = false;
  CheckReport report_;

  // The following members are computed again in each comparison.
  std::vector<std::pair<SectorAddress, Owner>> owners_;
  /// Indexed by sector of the log: 1 + the index in `owners_` of the first block that begins at the
  /// sector; 0 if no block begins there.
  std::vector<std::uint32_t> owner_at_;
  /// Indexed by sector of the log: true if a block uses the sector.
  std::vector<std::uint8_t> used_;
  std::uint32_t addresses_ = 0;  ///< number of distinct addresses in `owners_`
  std::size_t inodes_found_ = 0;
  std::vector<std::uint32_t> live_;  ///< live bytes found in each segment
  bool summary_findings_ = false;
};

Checker::Checker() : state_(std::make_unique<State>()) {}
Checker::~Checker() = default;
Result<CheckReport> Checker::check(const model::SectorStore& store, const Contents& contents) {
  return state_->check(store, contents);
}

std::string_view name_of(FindingKind kind) {
  static constexpr auto kNames =
      base::names<FindingKind>({"inode", "pointer", "doubly-used", "usage", "segment", "name",
                                "links", "unreachable", "summary", "totals", "recovery"});
  return kNames[kind];
}

std::string CheckReport::text() const {
  std::string lines;
  for (const Finding& finding : findings)
    lines += std::string(name_of(finding.kind)) + ": " + finding.text + "\n";
  return lines;
}

Result<CheckReport> check(const model::SectorStore& store) {
  return Checker().check(store);
}

}  // namespace headcrash::lfs
