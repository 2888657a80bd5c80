#include "fs-adapters/lfs/check.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "fs-adapters/lfs/image_reader.h"

namespace headcrash::lfs {
namespace {

/// Who a run of sectors belongs to.
struct Owner {
  Content content = Content::data;
  InodeNumber inode = 0;
  std::uint32_t version = 0;
  std::uint32_t index = 0;
  std::uint32_t sectors = 0;
};

class Checker {
 public:
  explicit Checker(const ImageReader& reader) : r_(reader), s_(reader.superblock()) {
    live_.resize(s_.segments);
    used_.resize(std::size_t{s_.segments} * s_.segment_sectors);
  }

  CheckReport run() {
    look_at_inodes();
    look_at_tables();
    look_at_names();
    look_at_links();
    look_at_segments();
    look_at_summaries();
    look_at_totals();
    return std::move(report_);
  }

 private:
  void find(FindingKind kind, std::string text) {
    if (report_.findings.size() < CheckReport::kFindingsMax)
      report_.findings.push_back({kind, std::move(text)});
  }

  void own(SectorAddress address, const Owner& owner, std::uint32_t bytes) {
    live_[s_.segment_of(address)] += bytes;
    bool twice = false;
    const std::size_t first = address - s_.first_segment;
    for (std::size_t i = first; i < first + owner.sectors; ++i) {
      twice = twice || used_[i];
      used_[i] = true;
    }
    if (twice && owner.content != Content::inodes)
      find(FindingKind::doubly_used, fmt::format("sectors {} to {}, here by inode {}, block {} of kind {}",
                                                 address, address + owner.sectors - 1, owner.inode,
                                                 owner.index, static_cast<int>(owner.content)));
    if (!owners_.emplace(address, owner).second && owner.content != Content::inodes)
      find(FindingKind::doubly_used, fmt::format("address {}", address));
  }

  void look_at_inodes() {
    for (InodeNumber number = 0; number < s_.inodes; ++number) {
      const MapEntry& entry = r_.map()[number];
      if (!entry.allocated()) continue;
      auto inode = r_.inode(number);
      if (!inode) {
        find(FindingKind::inode, inode.error().message());
        continue;
      }
      if (inode->version != entry.version)
        find(FindingKind::inode,
             fmt::format("inode {}: version {}, in the map {}", number, inode->version, entry.version));
      if (!inode->is_directory() && !inode->is_regular() && !inode->is_symlink())
        find(FindingKind::inode, fmt::format("inode {}: mode {:o}", number, inode->mode));
      if (inode->size_bytes > s_.file_bytes_max())
        find(FindingKind::inode, fmt::format("inode {}: {} bytes", number, inode->size_bytes));
      own_inode_sector(entry.address);
      own_blocks(*inode);
      (inode->is_directory() ? report_.directories : report_.files)++;
      inodes_.emplace(number, *inode);
    }
  }

  /// Inodes share sectors with each other, and with nothing else.
  void own_inode_sector(SectorAddress address) {
    const auto known = owners_.find(address);
    if (known != owners_.end() && known->second.content == Content::inodes) {
      live_[s_.segment_of(address)] += kInodeBytes;
      return;
    }
    if (used_[address - s_.first_segment])
      find(FindingKind::doubly_used, fmt::format("sector {} of inodes", address));
    own(address, {.content = Content::inodes, .sectors = 1}, kInodeBytes);
  }

  void own_blocks(const Inode& inode) {
    std::uint32_t sectors = 0;
    const auto done = r_.each_block(inode, [&](const ImageReader::Block& block) {
      const std::uint32_t own_sectors = block.bytes / kSectorBytes;
      sectors += own_sectors;
      own(block.address,
          {static_cast<Content>(block.id.level), inode.number, inode.version, block.id.index, own_sectors},
          block.bytes);
    });
    if (!done) return find(FindingKind::pointer, done.error().message());
    if (sectors != inode.sectors)
      find(FindingKind::pointer,
           fmt::format("inode {}: {} sectors, it says {}", inode.number, sectors, inode.sectors));
  }

  void look_at_tables() {
    const auto table = [&](const std::vector<SectorAddress>& blocks, Content content) {
      for (std::uint32_t i = 0; i < blocks.size(); ++i)
        if (blocks[i] != 0) own(blocks[i], {content, 0, 0, i, s_.block_sectors()}, s_.block_bytes);
    };
    table(r_.checkpoint().map_blocks, Content::inode_map);
    table(r_.checkpoint().usage_blocks, Content::usage);
  }

  void look_at_names() {
    if (!inodes_.contains(kRootInode) || !inodes_.at(kRootInode).is_directory())
      return find(FindingKind::inode, "there is no root directory");
    std::vector<std::pair<InodeNumber, InodeNumber>> to_see{{kRootInode, kRootInode}};
    parents_.emplace(kRootInode, kRootInode);
    while (!to_see.empty()) {
      const auto [number, parent] = to_see.back();
      to_see.pop_back();
      const auto names = r_.entries(inodes_.at(number));
      if (!names) {
        find(FindingKind::name, names.error().message());
        continue;
      }
      look_at_dots(number, parent, *names);
      for (const NamedInode& one : *names) {
        if (one.name == "." || one.name == "..") continue;
        if (look_at_name(number, one) && inodes_.at(one.inode).is_directory() &&
            parents_.emplace(one.inode, number).second)
          to_see.emplace_back(one.inode, number);
      }
    }
  }

  void look_at_dots(InodeNumber number, InodeNumber parent, const std::vector<NamedInode>& names) {
    const bool right = names.size() >= 2 && names[0].name == "." && names[0].inode == number &&
                       names[1].name == ".." && names[1].inode == parent;
    if (!right) find(FindingKind::name, fmt::format("directory {}: its \".\" or \"..\"", number));
    ++links_[number];
    if (number != kRootInode) ++links_[parent];
    if (number == kRootInode) ++links_[number];
  }

  bool look_at_name(InodeNumber directory, const NamedInode& one) {
    const auto target = inodes_.find(one.inode);
    if (target == inodes_.end()) {
      find(FindingKind::name, fmt::format("directory {}: '{}' leads to inode {}, which is none", directory,
                                          one.name, one.inode));
      return false;
    }
    if (tree::entry_type(target->second.mode) != one.type)
      find(FindingKind::name, fmt::format("directory {}: '{}' is of another type", directory, one.name));
    if (target->second.is_directory() && parents_.contains(one.inode))
      find(FindingKind::name, fmt::format("directory {}: '{}' has another name", directory, one.name));
    ++links_[one.inode];
    return true;
  }

  void look_at_links() {
    for (const auto& [number, inode] : inodes_) {
      const auto counted = links_.find(number);
      const std::uint32_t links = counted == links_.end() ? 0 : counted->second;
      if (links == 0 && inode.links == 0 && r_.map()[number].unlinked) continue;  // open when it was unlinked
      if (links == 0)
        find(FindingKind::unreachable, fmt::format("inode {}, with {} links", number, inode.links));
      else if (links != inode.links)
        find(FindingKind::links, fmt::format("inode {}: {}, it says {}", number, links, inode.links));
    }
  }

  void look_at_segments() {
    const Checkpoint& c = r_.checkpoint();
    for (SegmentNumber i = 0; i < s_.segments; ++i) {
      const SegmentUsage& usage = r_.usage()[i];
      if (usage.live_bytes != live_[i])
        find(FindingKind::usage,
             fmt::format("segment {}: {} live bytes, the table says {}", i, live_[i], usage.live_bytes));
      const bool active = i == c.segment || i == c.next_segment;
      if (active != (usage.state == SegmentState::active) ||
          (usage.state == SegmentState::clean && live_[i] != 0))
        find(FindingKind::segment, fmt::format("segment {}: state {} with {} live bytes", i,
                                               static_cast<int>(usage.state), live_[i]));
    }
  }

  void look_at_summaries() {
    std::uint32_t described = 0;
    for (SegmentNumber i = 0; i < s_.segments; ++i) {
      if (live_[i] == 0) continue;
      const auto bytes = r_.segment(i);
      if (!bytes) {
        find(FindingKind::summary, bytes.error().message());
        continue;
      }
      described += described_in(i, *bytes);
    }
    if (described < owners_.size() && !summary_findings_)
      find(FindingKind::summary,
           fmt::format("{} of {} live blocks are in no summary", owners_.size() - described, owners_.size()));
  }

  std::uint32_t described_in(SegmentNumber number, std::span<const std::byte> bytes) {
    std::uint32_t described = 0;
    std::uint64_t last = 0;
    for (std::uint32_t at = 0; at < s_.segment_sectors;) {
      const auto summary =
          decode_summary(bytes.subspan(std::size_t{at} * kSectorBytes), s_, s_.segment_sectors - at);
      if (!summary || summary->sequence <= last) break;  // the segment's life before
      last = summary->sequence;
      SectorAddress address = s_.segment_start(number) + at + summary->summary_sectors();
      for (const SummaryEntry& entry : summary->entries) {
        described += described_by(entry, address);
        address += entry.sectors;
      }
      at += summary->sectors;
    }
    return described;
  }

  std::uint32_t described_by(const SummaryEntry& entry, SectorAddress address) {
    if (entry.content == Content::inodes) {
      std::uint32_t count = 0;
      for (std::uint32_t i = 0; i < entry.sectors; ++i) {
        const auto owner = owners_.find(address + i);
        if (owner != owners_.end() && owner->second.content == Content::inodes) ++count;
      }
      return count;
    }
    const auto owner = owners_.find(address);
    if (owner == owners_.end()) return 0;
    const Owner& o = owner->second;
    const bool right = o.content == entry.content && o.index == entry.index && o.sectors == entry.sectors &&
                       (!entry.of_file() || (o.inode == entry.inode && o.version == entry.version));
    if (!right) {
      summary_findings_ = true;
      find(FindingKind::summary,
           fmt::format("address {} belongs to inode {}, block {}, version {}; its summary "
                       "says inode {}, block {}, version {}",
                       address, o.inode, o.index, o.version, entry.inode, entry.index, entry.version));
    }
    return 1;
  }

  void look_at_totals() {
    const Checkpoint& c = r_.checkpoint();
    for (const std::uint32_t bytes : live_) report_.live_bytes += bytes;
    report_.clean = c.clean;
    if (c.live_bytes != report_.live_bytes)
      find(FindingKind::totals, fmt::format("{} live bytes, it says {}", report_.live_bytes, c.live_bytes));
    if (c.files != inodes_.size())
      find(FindingKind::totals, fmt::format("{} files, it says {}", inodes_.size(), c.files));
    const auto clean = std::count_if(r_.usage().begin(), r_.usage().end(), [](const SegmentUsage& usage) {
      return usage.state == SegmentState::clean;
    });
    if (clean != c.clean_segments)
      find(FindingKind::totals, fmt::format("{} clean segments, it says {}", clean, c.clean_segments));
  }

  const ImageReader& r_;
  const Superblock& s_;
  CheckReport report_;
  std::map<InodeNumber, Inode> inodes_;
  std::map<InodeNumber, InodeNumber> parents_;
  std::unordered_map<InodeNumber, std::uint32_t> links_;
  std::unordered_map<SectorAddress, Owner> owners_;
  std::vector<std::uint32_t> live_;
  std::vector<bool> used_;
  bool summary_findings_ = false;
};

}  // namespace

std::string_view name_of(FindingKind kind) {
  static constexpr std::array<std::string_view, 11> kNames = {
      "inode", "pointer",     "doubly-used", "usage",  "segment", "name",
      "links", "unreachable", "summary",     "totals", "recovery"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string CheckReport::text() const {
  std::string lines;
  for (const Finding& finding : findings)
    lines += std::string(name_of(finding.kind)) + ": " + finding.text + "\n";
  return lines;
}

Result<CheckReport> check(const model::SectorStore& store) {
  const auto reader = ImageReader::open(store);
  if (!reader) return pass_on(reader);
  return Checker(*reader).run();
}

}  // namespace headcrash::lfs
