// Lays out groups, then writes them one by one (mkfs.h). The layout of a group is that of newfs for
// UFS1:
//
//   boot, superblock (16 KiB; later: data) | replica (8 KiB) | header (block) | inodes | data

#include "fs-adapters/ufs/format/mkfs.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <vector>

#include "fs-adapters/substrate/tree/directory_block.h"
#include "fs-adapters/ufs/core/cylinder_group.h"
#include "fs-adapters/ufs/format/geometry.h"
#include "fs-adapters/ufs/schemes/journal_area.h"

namespace headcrash::ufs {
namespace {

constexpr std::uint32_t kInodesPerGroupMax = 32767;  // cg_niblk is a short
// Enough blocks for the summary, the root and lost+found, and one block for users.
constexpr std::uint32_t kDataBlocksMin = 4;

std::uint32_t round_up(std::uint64_t value, std::uint32_t unit) {
  return static_cast<std::uint32_t>((value + unit - 1) / unit * unit);
}

bool wants_external_journal(const MkfsOptions& options) {
  return options.external_journal_bytes || options.features.external_journal;
}

Result<void> check(const MkfsOptions& o) {
  const auto refuse_option = [](const char* option, const std::string& problem, const char* hint) {
    return fail(fmt::format("mkfs {}", option), problem, hint);
  };
  // Blocks of 512 to 2048 bytes, which other systems do not support, let tests reach every level of
  // indirect blocks on a small disk.
  if (!std::has_single_bit(o.block_bytes) || o.block_bytes < kSectorBytes || o.block_bytes > 8192)
    return refuse_option("block-size", fmt::format("invalid size: {} bytes", o.block_bytes),
                         "use 4096 or 8192; 512, 1024 and 2048 are not portable");
  if (!std::has_single_bit(o.fragment_bytes) || o.fragment_bytes < 512 ||
      o.fragment_bytes > o.block_bytes || o.block_bytes / o.fragment_bytes > 8)
    return refuse_option(
        "fragment-size",
        fmt::format("{} bytes are invalid for blocks of {} bytes", o.fragment_bytes, o.block_bytes),
        "use at least 512, and 1/8, 1/4, 1/2 or all of the block size");
  if (o.bytes_per_inode < kInodeBytes * 2)
    return refuse_option("bytes-per-inode", fmt::format("{} is too small", o.bytes_per_inode),
                         "use 256 or more");
  if (o.reserve_percent > 99)
    return refuse_option("reserve", fmt::format("{} percent is too large", o.reserve_percent),
                         "use 0 to 99");
  if (o.features.netra() && (o.journal_bytes || wants_external_journal(o)))
    return refuse_option("journal-size",
                         "cannot be combined with fast-check, bmap-cache or lazy-inodes",
                         "use only one of them");
  if (o.features.busy_map && !o.features.fast_check)
    return refuse_option("busy-map", "a map of busy groups requires busy marks",
                         "use --fast-check 1 as well");
  if (o.features.foreign_block && !o.features.fast_check)
    return refuse_option("foreign-block", "a list of foreign inodes requires busy marks",
                         "use --fast-check 1 as well");
  if (o.journal_bytes && wants_external_journal(o))
    return refuse_option("external-journal",
                         "a file system cannot have both an internal and an external journal",
                         "use only one of them");
  if (o.inodes_per_group > kInodesPerGroupMax)
    return refuse_option("inodes-per-group", fmt::format("{} is too large", o.inodes_per_group),
                         "use 32767 or less");
  return {};
}

class Layout {
 public:
  Layout(const MkfsOptions& options, std::uint64_t device_bytes) : o_(options) {
    s_.block_bytes = o_.block_bytes, s_.fragment_bytes = o_.fragment_bytes;
    s_.features = o_.features;
    s_.generation = o_.features.fast_check ? 1 : 0;
    per_block_ = s_.fragments_per_block();
    device_fragments_ = device_bytes / o_.fragment_bytes / per_block_ * per_block_;
  }

  Result<Superblock> make() {
    if (device_fragments_ > 0x7fffffff)
      return fail(
          "mkfs",
          fmt::format(
              "the device has {} fragments of {} bytes, but the largest address is 2147483647",
              device_fragments_, o_.fragment_bytes),
          "use a smaller device or larger fragments");
    const std::uint32_t eight_kib = kSuperblockBytes / o_.fragment_bytes;
    s_.superblock_offset = 2 * eight_kib;
    s_.header_offset = round_up(3 * eight_kib, per_block_);
    s_.inodes_offset = s_.header_offset + (s_.features.foreign_block ? 2 : 1) * per_block_;
    TRY(size_groups());
    TRY(cut_last_group());
    fill_in();
    if (std::string problem = problem_of(s_, device_fragments_ * o_.fragment_bytes);
        !problem.empty())
      return fail("mkfs", problem, "use different block, fragment or group sizes");
    return s_;
  }

 private:
  void set_group(std::uint64_t fragments) {
    s_.fragments_per_group = round_up(fragments, per_block_);
    const std::uint32_t inodes_per_block = o_.block_bytes / kInodeBytes;
    const std::uint64_t wanted =
        o_.inodes_per_group != 0
            ? o_.inodes_per_group
            : std::uint64_t{s_.fragments_per_group} * o_.fragment_bytes / o_.bytes_per_inode;
    const std::uint64_t bounded =
        std::clamp<std::uint64_t>(wanted, o_.features.extensions() ? kLostFoundInode + 2 : 1,
                                  kInodesPerGroupMax / inodes_per_block * inodes_per_block);
    s_.inodes_per_group = round_up(bounded, inodes_per_block);
    s_.data_offset = s_.inodes_offset + s_.inodes_per_group / inodes_per_block * per_block_;
  }
  bool fits_header() const {
    return CylinderGroup::header_bytes(s_.inodes_per_group, s_.fragments_per_group, s_.features) <=
           o_.block_bytes;
  }

  Result<void> size_groups() {
    if (o_.group_bytes != 0) {
      set_group(std::min(o_.group_bytes / o_.fragment_bytes, device_fragments_));
      if (fits_header()) return {};
      return fail(
          "mkfs group-size",
          fmt::format("the maps of a group of {} bytes do not fit into its header of {} bytes",
                      o_.group_bytes, o_.block_bytes),
          "use a smaller group or larger fragments");
    }
    std::uint64_t fragments =
        std::min<std::uint64_t>(device_fragments_, std::uint64_t{o_.block_bytes} * 8);
    for (set_group(fragments); !fits_header() && fragments > per_block_; set_group(fragments))
      fragments -= per_block_;
    const std::uint64_t groups =
        (device_fragments_ + fragments - 1) / std::max<std::uint64_t>(fragments, 1);
    if (groups > 1) set_group((device_fragments_ + groups - 1) / groups);
    return {};
  }

  /// Drops the last group if it has no space for data.
  Result<void> cut_last_group() {
    const std::uint64_t least = s_.data_offset + std::uint64_t{kDataBlocksMin} * per_block_;
    if (s_.fragments_per_group < least || device_fragments_ < least)
      return fail(
          "mkfs",
          fmt::format("a group of {} bytes has no room for data after its {} inodes",
                      std::min<std::uint64_t>(s_.fragments_per_group, device_fragments_) *
                          o_.fragment_bytes,
                      s_.inodes_per_group),
          fmt::format("use at least {} bytes for the device and each group, or fewer inodes",
                      least * o_.fragment_bytes));
    const std::uint64_t last = device_fragments_ % s_.fragments_per_group;
    const std::uint64_t size =
        last != 0 && last < least ? device_fragments_ - last : device_fragments_;
    s_.size_fragments = static_cast<std::uint32_t>(size);
    s_.groups =
        static_cast<std::uint32_t>((size + s_.fragments_per_group - 1) / s_.fragments_per_group);
    return {};
  }

  void fill_in() {
    s_.header_bytes = round_up(
        CylinderGroup::header_bytes(s_.inodes_per_group, s_.fragments_per_group, s_.features),
        o_.fragment_bytes);
    if (s_.features.fast_check)
      // The rest of the header's block, after the maps, is for foreign inodes.
      s_.header_bytes = o_.block_bytes;
    s_.summary_address = s_.data_offset;
    s_.summary_bytes = round_up(std::uint64_t{s_.groups} * kSummaryBytes, o_.fragment_bytes);
    s_.reserve_percent = o_.reserve_percent;
    s_.optimization = o_.optimization;
    s_.contiguous_max = o_.contiguous_max;
    s_.blocks_per_file_in_group_max =
        o_.blocks_per_file_in_group_max != 0 ? o_.blocks_per_file_in_group_max : o_.block_bytes / 4;
    s_.id = o_.id;
    s_.written_at = o_.time;
    s_.clean = true;
    s_.inline_target_max = kInlineTargetBytes;
    s_.file_bytes_max = Geometry(s_).file_bytes_max();
  }

  const MkfsOptions& o_;
  Superblock s_;
  std::uint32_t per_block_;
  std::uint64_t device_fragments_;
};

class Maker {
 public:
  Maker(model::SectorStore& store, const MkfsOptions& options, const Superblock& superblock)
      : store_(store),
        options_(options),
        s_(superblock),
        geometry_(superblock),
        lost_found_(geometry_.is_extension(kLostFoundInode) ? kLostFoundInode + 1
                                                            : kLostFoundInode) {}

  Result<Superblock> make() {
    TRY(look_for_journal());
    // The old superblock is erased before the new file system is written.
    TRY(store_.write_zeroes(0, 2 * kSuperblockBytes / kSectorBytes));
    for (std::uint32_t group = 0; group < s_.groups; ++group) {
      TRY(make_group(group));
    }
    TRY(write_root());
    TRY(write_summaries());
    for (std::uint32_t group = s_.groups; group-- > 0;) {
      TRY(write_superblock(geometry_.byte_of(geometry_.replica(group))));
    }
    TRY(write_superblock(kSuperblockByte));
    return s_;
  }

 private:
  Result<void> write(FragmentAddress at, std::span<const std::byte> bytes) {
    return store_.write(geometry_.lba_of(at), bytes);
  }

  /// Lays out the groups without writing them, in order to check that the journal fits.
  Result<void> look_for_journal() {
    if (!options_.journal_bytes) return {};
    TRY(const auto fragments, journal_fragments(s_, *options_.journal_bytes));
    std::vector<std::byte> header(s_.block_bytes);
    for (std::uint32_t number = 0; number < s_.groups; ++number) {
      TRY(lay_out(header, number));
      if (row_for_journal(CylinderGroup(geometry_, header, number), geometry_, fragments))
        return {};
    }
    return no_row_for_journal(s_, fragments);
  }

  Result<void> lay_out(std::span<std::byte> header, std::uint32_t number) {
    if (!CylinderGroup::format(geometry_, header, number))
      return fail("mkfs", "the maps of a group do not fit into its header", "use smaller groups");
    CylinderGroup group(geometry_, header, number);
    group.set_time(options_.time);
    if (s_.features.lazy_inodes) group.set_initialised_inodes(number == 0 ? first_inodes() : 0);
    if (number == 0) fill_first(group);
    return {};
  }

  Result<void> make_group(std::uint32_t number) {
    const std::uint64_t inode_sectors =
        std::uint64_t{s_.inodes_per_group} * kInodeBytes / kSectorBytes;
    // With lazy inodes, write_root() writes the blocks for the first inodes; all others are written
    // when they are first used.
    if (!s_.features.lazy_inodes)
      TRY(store_.write_zeroes(geometry_.lba_of(geometry_.inode_table(number)), inode_sectors));
    if (s_.features.foreign_block) {
      const FragmentAddress list = geometry_.foreign_block(number);
      TRY(store_.write_zeroes(geometry_.lba_of(list), s_.block_bytes / kSectorBytes));
    }
    std::vector<std::byte> header(s_.block_bytes);
    TRY(lay_out(header, number));
    const Summary totals = CylinderGroup(geometry_, header, number).totals();
    summaries_.push_back(totals);
    s_.total.directories += totals.directories, s_.total.free_blocks += totals.free_blocks;
    s_.total.free_inodes += totals.free_inodes, s_.total.free_fragments += totals.free_fragments;
    for (std::uint32_t f = 0; f < geometry_.group_fragments(number); ++f)
      s_.data_fragments += geometry_.is_data(geometry_.group_base(number) + f) ? 1 : 0;
    return write(geometry_.header(number), header);
  }

  /// Puts the summary, root and lost+found into the first data blocks of the first group.
  void fill_first(CylinderGroup& group) {
    const std::uint32_t width = s_.fragments_per_block();
    std::uint32_t next = s_.summary_address;
    for (std::uint32_t left = s_.summary_bytes / s_.fragment_bytes; left > 0;) {
      const std::uint32_t count = std::min(left, width - next % width);
      group.use(next, count);
      next += count, left -= count;
    }
    for (const std::uint32_t never : {0U, 1U})
      if (!group.inode_used(never)) group.use_inode(never, false);
    group.use_inode(kRootInode, true);
    root_at_ = next;
    group.use(next, 1);
    if (!options_.lost_found) return;
    group.use_inode(lost_found_, true);
    lost_found_at_ = (next + width) / width * width;
    group.use(lost_found_at_, width);
  }

  Result<void> write_root() {
    std::vector<std::byte> root(s_.fragment_bytes);
    const auto chunk = std::span(root).first(tree::kChunkBytes);
    tree::format_directory(chunk, kRootInode, kRootInode);
    std::vector<std::byte> inodes(std::size_t{first_inodes()} * kInodeBytes);
    const std::uint16_t root_links = options_.lost_found ? 3 : 2;
    put(inodes, kRootInode, root_links, 0755, tree::kChunkBytes, root_at_, 1);
    if (options_.lost_found) {
      tree::add_entry(chunk, "lost+found", lost_found_, entry_type(kTypeDirectory));
      std::vector<std::byte> block(s_.block_bytes);
      tree::format_chunks(block);
      tree::format_directory(std::span(block).first(tree::kChunkBytes), lost_found_, kRootInode);
      TRY(write(lost_found_at_, block));
      put(inodes, lost_found_, 2, 0700, s_.block_bytes, lost_found_at_, s_.fragments_per_block());
    }
    TRY(write(root_at_, root));
    return write(geometry_.inode_table(0), inodes);
  }

  /// Returns the number of slots in the blocks that contain the inodes of the root and of
  /// lost+found.
  std::uint32_t first_inodes() const {
    return round_up(lost_found_ + 1, geometry_.inodes_per_block());
  }

  void put(std::span<std::byte> inodes, InodeNumber number, std::uint16_t links,
           std::uint16_t permissions, std::uint32_t size, FragmentAddress at,
           std::uint32_t fragments) const {
    const Timestamp now{.seconds = static_cast<std::int32_t>(options_.time)};
    Inode inode{{.mode = static_cast<std::uint16_t>(kTypeDirectory | permissions),
                 .links = links,
                 .size_bytes = size,
                 .accessed = now,
                 .modified = now,
                 .changed = now}};
    inode.sectors = fragments * geometry_.sectors_per_fragment();
    inode.direct[0] = at;
    encode_inode(inode, inodes.subspan(std::size_t{number} * kInodeBytes, kInodeBytes));
  }

  Result<void> write_summaries() {
    std::vector<std::byte> bytes(s_.summary_bytes);
    for (std::size_t i = 0; i < summaries_.size(); ++i)
      encode_summary(summaries_[i], std::span(bytes).subspan(i * kSummaryBytes));
    s_.data_fragments -= s_.summary_bytes / s_.fragment_bytes;
    return write(s_.summary_address, bytes);
  }

  Result<void> write_superblock(std::uint64_t byte) {
    std::vector<std::byte> bytes(kSuperblockBytes);
    encode_superblock(s_, bytes);
    return store_.write(byte / kSectorBytes, bytes);
  }

  model::SectorStore& store_;
  const MkfsOptions& options_;
  Superblock s_;
  Geometry geometry_;
  std::vector<Summary> summaries_;
  InodeNumber lost_found_;
  FragmentAddress root_at_ = 0, lost_found_at_ = 0;
};

}  // namespace

Result<Superblock> mkfs(model::SectorStore& store, const MkfsOptions& options) {
  TRY(check(options));
  TRY(auto superblock, Layout(options, store.sectors() * model::kSectorBytes).make());
  if (wants_external_journal(options)) {
    const std::uint64_t bytes = options.external_journal_bytes.value_or(0);
    TRY(make_external_journal(store, superblock, bytes));
  }
  auto made = Maker(store, options, superblock).make();
  if (made && options.journal_bytes) TRY(add_journal(store, *made, *options.journal_bytes));
  return made;
}

}  // namespace headcrash::ufs
