// Encodes and decodes the superblock and the inode (format.h). Later BSDs also keep 64-bit copies
// of sizes and totals in this superblock, and use the copies if fs_maxbsize equals fs_bsize. This
// code writes the original fields and the copies.

#include "fs-adapters/ufs/format/format.h"

#include <fmt/core.h>

#include <bit>
#include <cstring>

#include "fs-adapters/ufs/core/cylinder_group.h"
#include "fs-adapters/ufs/format/geometry.h"
#include "plugin/base/little_endian.h"

namespace headcrash::ufs {
using namespace little_endian;
namespace {

// Offsets in struct fs.
constexpr std::size_t kSblkno = 8, kCblkno = 12, kIblkno = 16, kDblkno = 20, kCgoffset = 24,
                      kCgmask = 28, kTime = 32, kSize = 36, kDsize = 40, kNcg = 44, kBsize = 48,
                      kFsize = 52, kFrag = 56, kMinfree = 60, kRps = 68, kBmask = 72, kFmask = 76,
                      kBshift = 80, kFshift = 84, kMaxcontig = 88, kMaxbpg = 92, kFragshift = 96,
                      kFsbtodb = 100, kSbsize = 104, kNindir = 116, kInopb = 120, kNspf = 124,
                      kOptim = 128, kNpsect = 132, kInterleave = 136, kId = 144, kCsaddr = 152,
                      kCssize = 156, kCgsize = 160, kNtrak = 164, kNsect = 168, kSpc = 172,
                      kNcyl = 176, kCpg = 180, kIpg = 184, kFpg = 188, kCstotal = 192, kFmod = 208,
                      kClean = kSuperblockCleanOffset, kRonly = 210, kOldFlags = 211,
                      kCgrotor = 724, kMaxbsize = 860, kJournalArea = 968, kJournalId = 984,
                      kSblockloc = 1000, kCstotal64 = 1008, kTime64 = 1072, kSize64 = 1080,
                      kDsize64 = 1088, kCsaddr64 = 1096, kContigsumsize = 1316,
                      kMaxsymlinklen = 1320, kInodefmt = 1324, kMaxfilesize = 1328, kQbmask = 1336,
                      kQfmask = 1344, kPostblformat = 1356, kNrpos = 1360, kMagic = 1372;
// Offsets of our extensions. The extensions replace fs_fsmnt. They are in the same sector as
// fs_clean, and are therefore always consistent with fs_clean.
constexpr std::size_t kFeatures = 216, kFeatureState = 220, kGeneration = 224;
constexpr std::uint32_t kInodeFormat44 = 2;         // FS_44INODEFMT
constexpr std::uint32_t kDynamicPostbl = 1;         // FS_DYNAMICPOSTBLFMT
constexpr std::uint8_t kFlagsUpdated = 0x80;        // FS_FLAGS_UPDATED
constexpr std::uint32_t kFragmentMax = 0x7fffffff;  // addresses are signed on disk
constexpr std::uint32_t kFastCheck = 1, kBmapCache = 2, kLazyInodes = 4, kExternalJournal = 8,
                        kBusyMap = 16,
                        kForeignBlock = 32;  // bits of kFeatures
constexpr std::uint32_t kFullCheck = 1;      // bit of kFeatureState

bool power_of_two(std::uint32_t value) {
  return std::has_single_bit(value);
}
std::uint32_t shift_of(std::uint32_t value) {
  return static_cast<std::uint32_t>(std::countr_zero(value));
}

std::string problem_of_sizes(const Superblock& s) {
  if (!power_of_two(s.block_bytes) || s.block_bytes < kSectorBytes || s.block_bytes > 65536)
    return fmt::format("fs_bsize {} is not a power of two from {} to 65536", s.block_bytes,
                       kSectorBytes);
  if (!power_of_two(s.fragment_bytes) || s.fragment_bytes < 512 ||
      s.fragment_bytes > s.block_bytes || s.block_bytes / s.fragment_bytes > 8)
    return fmt::format("fs_fsize {} is not 1/8, 1/4, 1/2 or all of fs_bsize {}", s.fragment_bytes,
                       s.block_bytes);
  if (s.size_fragments == 0 || s.size_fragments > kFragmentMax)
    return fmt::format("fs_size {} is invalid", s.size_fragments);
  if (s.header_bytes < kInodeBytes || s.header_bytes > s.block_bytes)
    return fmt::format("fs_cgsize {} is invalid", s.header_bytes);
  if (s.reserve_percent > 99)
    return fmt::format("fs_minfree {} is not a percentage", s.reserve_percent);
  return {};
}

std::string problem_of_groups(const Superblock& s) {
  const std::uint32_t per_block = s.fragments_per_block();
  const std::uint64_t inode_fragments =
      (std::uint64_t{s.inodes_per_group} * kInodeBytes + s.fragment_bytes - 1) / s.fragment_bytes;
  if (s.fragments_per_group == 0 || s.fragments_per_group > kFragmentMax ||
      s.fragments_per_group % per_block != 0)
    return fmt::format("fs_fpg {} is not a multiple of the block size", s.fragments_per_group);
  if (s.inodes_per_group == 0 || s.inodes_per_group % (s.block_bytes / kInodeBytes) != 0)
    return fmt::format("fs_ipg {} does not fill whole blocks", s.inodes_per_group);
  const std::uint64_t superblock_end =
      s.superblock_offset +
      (std::uint64_t{kSuperblockUsedBytes} + s.fragment_bytes - 1) / s.fragment_bytes;
  if (superblock_end > s.header_offset ||
      std::uint64_t{s.header_offset} + per_block > s.inodes_offset ||
      s.inodes_offset + inode_fragments > s.data_offset || s.data_offset > s.fragments_per_group)
    return fmt::format(
        "a group's parts overlap (fs_sblkno {}, fs_cblkno {}, fs_iblkno {}, fs_dblkno {})",
        s.superblock_offset, s.header_offset, s.inodes_offset, s.data_offset);
  if (s.header_offset % per_block != 0 || s.inodes_offset % per_block != 0 ||
      s.data_offset % per_block != 0)
    return "the parts of a group are not block-aligned";
  const std::uint64_t whole = std::uint64_t{s.groups} * s.fragments_per_group;
  if (s.groups == 0 || whole < s.size_fragments ||
      whole - s.fragments_per_group >= s.size_fragments)
    return fmt::format("fs_ncg {} groups of {} fragments do not add up to {}", s.groups,
                       s.fragments_per_group, s.size_fragments);
  if (std::uint64_t{s.groups} * s.inodes_per_group > 0xffffffffU) return "too many inodes";
  const std::uint64_t stagger_max =
      std::uint64_t{s.stagger} * static_cast<std::uint32_t>(~s.stagger_mask);
  if (stagger_max % per_block != 0 || stagger_max + s.data_offset > s.fragments_per_group)
    return fmt::format("fs_cgoffset {} moves headers out of their groups", s.stagger);
  const std::uint64_t last = s.size_fragments - (whole - s.fragments_per_group);
  const std::uint64_t last_stagger =
      std::uint64_t{s.stagger} * ((s.groups - 1) & static_cast<std::uint32_t>(~s.stagger_mask));
  if (last_stagger + s.data_offset > last)
    return fmt::format("the last group has only {} fragments", last);
  return {};
}

/// Checks that the journal is within one group's data area, that no inode table interrupts it, and
/// that it does not overlap the summaries.
std::string problem_of_journal(const Superblock& s) {
  if (s.features.external_journal) {
    if (s.journal.at == 0 && s.journal.fragments > 2 && s.fragment_bytes <= kSuperblockBytes)
      return {};
    return fmt::format("invalid external journal: {} fragments from fragment {} on",
                       s.journal.fragments, s.journal.at);
  }
  if (s.journal.fragments == 0) return {};
  const Geometry geometry(s);
  const std::uint64_t end = std::uint64_t{s.journal.at} + s.journal.fragments;
  const std::uint32_t group = geometry.group_of_fragment(s.journal.at);
  const bool inside = end <= s.size_fragments &&
                      geometry.group_of_fragment(static_cast<FragmentAddress>(end - 1)) == group &&
                      s.journal.at >= geometry.data_start(group);
  const bool over_summary =
      s.journal.at < s.summary_address + geometry.fragments_of(s.summary_bytes) &&
      s.summary_address < end;
  if (inside && !over_summary && s.journal.fragments > 2 && s.fragment_bytes <= kSuperblockBytes)
    return {};
  return fmt::format(
      "the journal ({} fragments from fragment {} on) is not within one group's data",
      s.journal.fragments, s.journal.at);
}

std::string problem_of_features(const Superblock& s) {
  if (s.features.busy_map && !s.features.fast_check) return "busy-map requires fast-check";
  if (s.features.foreign_block &&
      (!s.features.fast_check || std::uint64_t{s.inodes_offset} <
                                     std::uint64_t{s.header_offset} + 2 * s.fragments_per_block()))
    return fmt::format("fs_iblkno {} leaves no room for the inodes of other groups",
                       s.inodes_offset);
  if (!s.features.netra()) return {};
  if (s.journal.fragments != 0) return "a journal is incompatible with the other features";
  // An inode slot and the extension in the next slot must be in the same sector.
  static_assert(kSectorBytes % (2 * kInodeBytes) == 0);
  if (s.features.fast_check &&
      (s.header_bytes != s.block_bytes ||
       CylinderGroup::header_bytes(s.inodes_per_group, s.fragments_per_group, s.features) >
           s.block_bytes))
    return fmt::format("fs_cgsize {} leaves no room for busy marks", s.header_bytes);
  return {};
}

Features decode_features(std::uint32_t bits) {
  return {.fast_check = (bits & kFastCheck) != 0,
          .bmap_cache = (bits & kBmapCache) != 0,
          .lazy_inodes = (bits & kLazyInodes) != 0,
          .external_journal = (bits & kExternalJournal) != 0,
          .busy_map = (bits & kBusyMap) != 0,
          .foreign_block = (bits & kForeignBlock) != 0};
}

std::uint32_t encode_features(const Features& features) {
  return (features.fast_check ? kFastCheck : 0) | (features.bmap_cache ? kBmapCache : 0) |
         (features.lazy_inodes ? kLazyInodes : 0) |
         (features.external_journal ? kExternalJournal : 0) | (features.busy_map ? kBusyMap : 0) |
         (features.foreign_block ? kForeignBlock : 0);
}

}  // namespace

Summary decode_summary(std::span<const std::byte> bytes) {
  return {.directories = load32(bytes, 0),
          .free_blocks = load32(bytes, 4),
          .free_inodes = load32(bytes, 8),
          .free_fragments = load32(bytes, 12)};
}

void encode_summary(const Summary& summary, std::span<std::byte> bytes) {
  store32(bytes, 0, summary.directories);
  store32(bytes, 4, summary.free_blocks);
  store32(bytes, 8, summary.free_inodes);
  store32(bytes, 12, summary.free_fragments);
}

std::string problem_of(const Superblock& s, std::uint64_t device_bytes) {
  if (std::string problem = problem_of_sizes(s); !problem.empty()) return problem;
  if (std::string problem = problem_of_groups(s); !problem.empty()) return problem;
  if (std::uint64_t{s.size_fragments} * s.fragment_bytes > device_bytes)
    return fmt::format("the file system has {} bytes, but its device has only {}",
                       std::uint64_t{s.size_fragments} * s.fragment_bytes, device_bytes);
  const std::uint64_t summary_end =
      s.summary_address +
      (std::uint64_t{s.summary_bytes} + s.fragment_bytes - 1) / s.fragment_bytes;
  if (s.summary_bytes < std::uint64_t{s.groups} * kSummaryBytes ||
      s.summary_address < s.data_offset || summary_end > s.size_fragments ||
      summary_end > s.fragments_per_group)
    return fmt::format(
        "the groups' summary (fs_csaddr {}, fs_cssize {}) is not in the first group's data",
        s.summary_address, s.summary_bytes);
  if (std::string problem = problem_of_journal(s); !problem.empty()) return problem;
  if (std::string problem = problem_of_features(s); !problem.empty()) return problem;
  if (s.inline_target_max > kInlineTargetBytes)
    return fmt::format("fs_maxsymlinklen {} exceeds the space that an inode's pointers take",
                       s.inline_target_max);
  return {};
}

Result<Superblock> decode_superblock(std::span<const std::byte> bytes, std::uint64_t device_bytes) {
  invariant(bytes.size() >= kSuperblockUsedBytes,
            "ufs: a superblock must be decoded from all of its bytes");
  const bool has_features = load32(bytes, kMagic) == kFeaturesMagic;
  if (load32(bytes, kMagic) != kSuperblockMagic && !has_features)
    return fail({}, fmt::format("no UFS1 superblock (magic {:#x})", load32(bytes, kMagic)));
  if (load32(bytes, kInodefmt) != kInodeFormat44)
    return fail({}, "a UFS1 file system from before 4.4BSD is unsupported",
                "the format of its inodes and directories differs");
  Superblock s;
  const auto read = [&](std::size_t offset) { return load32(bytes, offset); };
  s.superblock_offset = read(kSblkno), s.header_offset = read(kCblkno);
  s.inodes_offset = read(kIblkno), s.data_offset = read(kDblkno);
  s.stagger = read(kCgoffset), s.stagger_mask = read(kCgmask);
  s.written_at = read(kTime);
  s.size_fragments = read(kSize), s.data_fragments = read(kDsize);
  s.groups = read(kNcg);
  s.block_bytes = read(kBsize), s.fragment_bytes = read(kFsize);
  s.reserve_percent = read(kMinfree);
  s.contiguous_max = read(kMaxcontig), s.blocks_per_file_in_group_max = read(kMaxbpg);
  s.optimization = read(kOptim) == 1 ? Optimization::space : Optimization::time;
  s.id = {read(kId), read(kId + 4)};
  s.summary_address = read(kCsaddr), s.summary_bytes = read(kCssize);
  s.header_bytes = read(kCgsize);
  s.inodes_per_group = read(kIpg), s.fragments_per_group = read(kFpg);
  s.total = decode_summary(bytes.subspan(kCstotal));
  if (read(kMaxbsize) == s.block_bytes)
    for (std::size_t i = 0; i < kSummaryBytes / 4; ++i)
      s.totals_differ =
          s.totals_differ || load64(bytes, kCstotal64 + 8 * i) != read(kCstotal + 4 * i);
  s.modified = load8(bytes, kFmod) != 0;
  s.clean = load8(bytes, kClean) == 1;
  s.read_only = load8(bytes, kRonly) != 0;
  s.group_rotor = read(kCgrotor);
  s.inline_target_max = read(kMaxsymlinklen);
  s.file_bytes_max = load64(bytes, kMaxfilesize);
  if (read(kJournalArea) == kJournalAreaMagic)
    s.journal = {.at = read(kJournalArea + 4), .fragments = read(kJournalArea + 8)};
  if (has_features) {
    const std::uint32_t bits = read(kFeatures);
    s.features = decode_features(bits);
    if (bits == 0 || bits != encode_features(s.features))
      return fail({}, fmt::format("unknown features (bits {:#x})", bits), "use a newer headcrash");
    s.full_check = (read(kFeatureState) & kFullCheck) != 0;
    s.generation = load64(bytes, kGeneration);
    if (s.features.external_journal) s.journal_id = load64(bytes, kJournalId);
  }
  if (std::string problem = problem_of(s, device_bytes); !problem.empty()) return fail({}, problem);
  return s;
}

void encode_superblock(const Superblock& s, std::span<std::byte> bytes) {
  const auto write = [&](std::size_t offset, std::uint32_t value) {
    store32(bytes, offset, value);
  };
  write(kSblkno, s.superblock_offset), write(kCblkno, s.header_offset);
  write(kIblkno, s.inodes_offset), write(kDblkno, s.data_offset);
  write(kCgoffset, s.stagger), write(kCgmask, s.stagger_mask);
  write(kTime, s.written_at), store64(bytes, kTime64, s.written_at);
  write(kSize, s.size_fragments), store64(bytes, kSize64, s.size_fragments);
  write(kDsize, s.data_fragments), store64(bytes, kDsize64, s.data_fragments);
  write(kNcg, s.groups);
  write(kBsize, s.block_bytes), write(kFsize, s.fragment_bytes),
      write(kFrag, s.fragments_per_block());
  write(kMaxbsize, s.block_bytes);
  write(kMinfree, s.reserve_percent);
  write(kBmask, ~(s.block_bytes - 1)), write(kFmask, ~(s.fragment_bytes - 1));
  store64(bytes, kQbmask, s.block_bytes - 1), store64(bytes, kQfmask, s.fragment_bytes - 1);
  write(kBshift, shift_of(s.block_bytes)), write(kFshift, shift_of(s.fragment_bytes));
  write(kFragshift, shift_of(s.fragments_per_block()));
  write(kFsbtodb, shift_of(s.fragment_bytes / kSectorBytes));
  write(kMaxcontig, s.contiguous_max), write(kMaxbpg, s.blocks_per_file_in_group_max);
  write(kSbsize,
        (kSuperblockUsedBytes + s.fragment_bytes - 1) / s.fragment_bytes * s.fragment_bytes);
  write(kNindir, s.block_bytes / 4), write(kInopb, s.block_bytes / kInodeBytes);
  write(kNspf, s.fragment_bytes / kSectorBytes);
  write(kOptim, static_cast<std::uint32_t>(s.optimization));
  write(kId, s.id[0]), write(kId + 4, s.id[1]);
  write(kCsaddr, s.summary_address), store64(bytes, kCsaddr64, s.summary_address);
  write(kCssize, s.summary_bytes), write(kCgsize, s.header_bytes);
  write(kIpg, s.inodes_per_group), write(kFpg, s.fragments_per_group);
  // Disk geometry no longer matters, so each group gets a single cylinder that is as long as the
  // group.
  const std::uint32_t group_sectors = s.fragments_per_group * (s.fragment_bytes / kSectorBytes);
  write(kRps, 60), write(kInterleave, 1), write(kNtrak, 1), write(kCpg, 1), write(kNcyl, s.groups);
  write(kNsect, group_sectors), write(kNpsect, group_sectors), write(kSpc, group_sectors);
  write(kNrpos, 1), write(kPostblformat, kDynamicPostbl);
  encode_summary(s.total, bytes.subspan(kCstotal));
  store64(bytes, kCstotal64, s.total.directories),
      store64(bytes, kCstotal64 + 8, s.total.free_blocks);
  store64(bytes, kCstotal64 + 16, s.total.free_inodes);
  store64(bytes, kCstotal64 + 24, s.total.free_fragments);
  store8(bytes, kFmod, s.modified ? 1 : 0), store8(bytes, kClean, s.clean ? 1 : 0);
  store8(bytes, kRonly, s.read_only ? 1 : 0);
  store8(bytes, kOldFlags, kFlagsUpdated);
  write(kCgrotor, s.group_rotor);
  store64(bytes, kSblockloc, kSuperblockByte);
  write(kContigsumsize, 0);
  write(kMaxsymlinklen, s.inline_target_max), write(kInodefmt, kInodeFormat44);
  store64(bytes, kMaxfilesize, s.file_bytes_max);
  if (s.journal.fragments != 0 || load32(bytes, kJournalArea) == kJournalAreaMagic) {
    write(kJournalArea, s.journal.fragments != 0 ? kJournalAreaMagic : 0);
    write(kJournalArea + 4, s.journal.at), write(kJournalArea + 8, s.journal.fragments);
  }
  if (s.features.any()) {
    write(kFeatures, encode_features(s.features));
    write(kFeatureState, s.full_check ? kFullCheck : 0);
    store64(bytes, kGeneration, s.generation);
    if (s.features.external_journal) store64(bytes, kJournalId, s.journal_id);
  } else if (load32(bytes, kMagic) == kFeaturesMagic) {  // the previous file system had features
    write(kFeatures, 0), write(kFeatureState, 0);
    store64(bytes, kGeneration, 0), store64(bytes, kJournalId, 0);
  }
  write(kMagic, s.features.any() ? kFeaturesMagic : kSuperblockMagic);
}

Inode decode_inode(std::span<const std::byte> bytes) {
  Inode inode;
  const auto time = [&](std::size_t offset) {
    return Timestamp{.seconds = static_cast<std::int32_t>(load32(bytes, offset)),
                     .nanoseconds = static_cast<std::int32_t>(load32(bytes, offset + 4))};
  };
  inode.mode = load16(bytes, kInodeModeOffset);
  inode.links = load16(bytes, kInodeLinksOffset);
  inode.size_bytes = load64(bytes, kInodeSizeOffset);
  inode.accessed = time(16), inode.modified = time(24), inode.changed = time(32);
  for (std::size_t i = 0; i < kDirectPointers; ++i)
    inode.direct[i] = load32(bytes, kInodeDirectOffset + 4 * i);
  for (std::size_t i = 0; i < kIndirectPointers; ++i)
    inode.indirect[i] = load32(bytes, kInodeIndirectOffset + 4 * i);
  inode.flags = load32(bytes, 100);
  inode.sectors = load32(bytes, kInodeSectorsOffset);
  inode.generation = load32(bytes, 108);
  inode.user = load32(bytes, 112), inode.group = load32(bytes, 116);
  inode.revision = load64(bytes, 120);
  return inode;
}

void encode_inode(const Inode& inode, std::span<std::byte> bytes) {
  const auto time = [&](std::size_t offset, const Timestamp& at) {
    store32(bytes, offset, static_cast<std::uint32_t>(at.seconds));
    store32(bytes, offset + 4, static_cast<std::uint32_t>(at.nanoseconds));
  };
  store16(bytes, kInodeModeOffset, inode.mode);
  store16(bytes, kInodeLinksOffset, inode.links);
  store32(bytes, 4, 0);
  store64(bytes, kInodeSizeOffset, inode.size_bytes);
  time(16, inode.accessed), time(24, inode.modified), time(32, inode.changed);
  for (std::size_t i = 0; i < kDirectPointers; ++i)
    store32(bytes, kInodeDirectOffset + 4 * i, inode.direct[i]);
  for (std::size_t i = 0; i < kIndirectPointers; ++i)
    store32(bytes, kInodeIndirectOffset + 4 * i, inode.indirect[i]);
  store32(bytes, 100, inode.flags);
  store32(bytes, kInodeSectorsOffset, inode.sectors);
  store32(bytes, 108, inode.generation);
  store32(bytes, 112, inode.user), store32(bytes, 116, inode.group);
  store64(bytes, 120, inode.revision);
}

std::string inline_target(const Inode& inode) {
  std::array<std::byte, kInodeBytes> bytes = {};
  encode_inode(inode, bytes);
  const std::size_t length =
      inode.size_bytes < kInlineTargetBytes ? inode.size_bytes : kInlineTargetBytes;
  std::string target(length, '\0');
  std::memcpy(target.data(), bytes.data() + kInodeDirectOffset, length);
  return target;
}

void set_inline_target(Inode& inode, std::string_view target) {
  invariant(target.size() <= kInlineTargetBytes,
            "ufs: a symlink target inside an inode must not exceed 60 bytes");
  std::array<std::byte, kInodeBytes> bytes = {};
  inode.direct = {}, inode.indirect = {};
  inode.size_bytes = target.size();
  encode_inode(inode, bytes);
  std::memcpy(bytes.data() + kInodeDirectOffset, target.data(), target.size());
  inode = decode_inode(bytes);
}

bool pointers_are_text(const Inode& inode, std::uint32_t inline_target_max) {
  const std::uint16_t type = inode.mode & kTypeMask;
  if (type == kTypeSymlink)
    return inline_target_max == 0 ? inode.sectors == 0 : inode.size_bytes < inline_target_max;
  return type == kTypeCharacter || type == kTypeBlock;
}

}  // namespace headcrash::ufs
