#pragma once
// The on-disk structures of UFS1 in its 4.4BSD form, little-endian: superblock, summary, inode.
// (Cylinder
// groups: cylinder_group.h; directories: tree/directory_block.h; where things lie: geometry.h; all
// of it in words: FORMAT.md.) The names in the comments are those of BSD's <ufs/ffs/fs.h> and
// <ufs/ufs/dinode.h>.
//
// Structures are read and written field by field. Writing patches the bytes that are there, so that
// what other systems keep in fields that we do not know survives.
//
// Source: McKusick, Joy, Leffler and Fabry, "A Fast File System for UNIX", 1984; McKusick, Bostic,
// Karels and Quarterman, "The Design and Implementation of the 4.4BSD Operating System", 1996,
// chapter 8.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "fs-adapters/substrate/tree/attributes.h"
#include "plugin/base/result.h"

namespace headcrash::ufs {

using tree::InodeNumber;
using FragmentAddress =
    std::uint32_t;  ///< in fragments from the start of the file system; 0: none, a hole

inline constexpr std::uint32_t kSuperblockMagic = 0x011954;  // FS_MAGIC
inline constexpr std::uint32_t kFeaturesMagic =
    0x34434848;  // "HHC4": in its place where there are features
inline constexpr std::uint32_t kGroupMagic = 0x090255;  // CG_MAGIC
inline constexpr std::uint32_t kJournalAreaMagic =
    0x314a4348;                                          // "HCJ1": the superblock names a journal
inline constexpr std::uint32_t kSuperblockByte = 8192;   // SBLOCK_UFS1: where the first one lies
inline constexpr std::uint32_t kSuperblockBytes = 8192;  // SBLOCKSIZE: what is kept free for each
inline constexpr std::uint32_t kSuperblockUsedBytes = 1376;  // sizeof(struct fs)
inline constexpr std::uint32_t kSuperblockCleanOffset =
    209;  // of fs_clean in it, in the first sector
inline constexpr std::uint32_t kInodeBytes = 128;
inline constexpr std::uint32_t kSummaryBytes = 16;  // struct csum
inline constexpr std::uint32_t kSectorBytes = 512;  // DEV_BSIZE: the unit of di_blocks

inline constexpr InodeNumber kRootInode = 2;       // ROOTINO; 0 means none, 1 once held bad blocks
inline constexpr InodeNumber kLostFoundInode = 3;  // mkfs's; with extensions 4
inline constexpr std::uint32_t kDirectPointers = 12;   // NDADDR
inline constexpr std::uint32_t kIndirectPointers = 3;  // NIADDR
inline constexpr std::uint32_t
    kInlineTargetBytes =  // the longest symbolic link kept in the pointers' place
    4 * (kDirectPointers + kIndirectPointers);
using tree::kLinksMax;

/// Fragments that follow each other and that were, or are, one pointer's.
struct Extent {
  FragmentAddress at = 0;
  std::uint32_t fragments = 0;
  bool operator==(const Extent&) const = default;
};

/// struct csum: what is free in a group, or in all of them.
struct Summary {
  std::uint32_t directories = 0;     // cs_ndir
  std::uint32_t free_blocks = 0;     // cs_nbfree: whole ones
  std::uint32_t free_inodes = 0;     // cs_nifree
  std::uint32_t free_fragments = 0;  // cs_nffree: outside wholly free blocks
  bool operator==(const Summary&) const = default;
};
Summary decode_summary(std::span<const std::byte> bytes);
void encode_summary(const Summary& summary, std::span<std::byte> bytes);

enum class Optimization : std::uint32_t { time = 0, space = 1 };  // FS_OPTTIME, FS_OPTSPACE

/// What a file system has beyond 4.4BSD's, from mkfs on (FORMAT.md, "Features"). Who does not know
/// one of them must not touch it: its superblock has another magic number.
struct Features {
  bool fast_check =
      /// busy marks in the groups, link tags beside the inodes (busy_marks.h, inode_extension.h)
      false;
  bool bmap_cache = false;   ///< addresses of a file's last blocks beside its inode (bmap_cache.h)
  bool lazy_inodes = false;  ///< blocks of inodes are zeroed when they are first used
  bool external_journal = false;  ///< the journal is a device of its own (journal_format.h)
  bool busy_map =
      false;  ///< with fast_check: the groups' summaries say which groups are busy (busy_map.h)
  bool foreign_block =
      false;  ///< with fast_check: a block behind each header for more foreign inodes
  bool operator==(const Features&) const = default;

  bool any() const { return netra() || external_journal; }
  /// Those that only one scheme keeps (netra.h).
  bool netra() const { return fast_check || bmap_cache || lazy_inodes; }
  /// Inodes have even numbers only; the slot behind each is its extension.
  bool extensions() const { return fast_check || bmap_cache; }
};

/// struct fs. Offsets within a group are in fragments.
struct Superblock {
  std::uint32_t superblock_offset = 0;  // fs_sblkno: the replica
  std::uint32_t header_offset = 0;      // fs_cblkno
  std::uint32_t inodes_offset = 0;      // fs_iblkno
  std::uint32_t data_offset = 0;        // fs_dblkno
  std::uint32_t stagger = 0;            // fs_cgoffset: how far each next group's header is moved
  std::uint32_t stagger_mask = 0xffffffffU;  // fs_cgmask
  std::uint32_t written_at = 0;              // fs_time: seconds since the epoch
  std::uint32_t size_fragments = 0;          // fs_size
  std::uint32_t data_fragments = 0;   // fs_dsize: without superblocks, headers, inodes, summary
  std::uint32_t groups = 0;           // fs_ncg
  std::uint32_t block_bytes = 0;      // fs_bsize: 4096 to 65536
  std::uint32_t fragment_bytes = 0;   // fs_fsize: an eighth of it to all of it, at least 512
  std::uint32_t reserve_percent = 0;  // fs_minfree
  std::uint32_t contiguous_max = 0;   // fs_maxcontig: blocks of a cluster
  std::uint32_t blocks_per_file_in_group_max = 0;  // fs_maxbpg
  Optimization optimization = Optimization::time;  // fs_optim
  std::array<std::uint32_t, 2> id = {};            // fs_id
  FragmentAddress summary_address = 0;    // fs_csaddr: the groups' summaries, one after the other
  std::uint32_t summary_bytes = 0;        // fs_cssize
  std::uint32_t header_bytes = 0;         // fs_cgsize
  std::uint32_t inodes_per_group = 0;     // fs_ipg
  std::uint32_t fragments_per_group = 0;  // fs_fpg
  Summary total;                          // fs_cstotal
  bool totals_differ =
      false;               // its 64-bit copies are others: of a torn write; decoded, not encoded
  bool modified = false;   // fs_fmod
  bool clean = false;      // fs_clean
  bool read_only = false;  // fs_ronly
  std::uint32_t group_rotor = 0;        // fs_cgrotor
  std::uint32_t inline_target_max = 0;  // fs_maxsymlinklen: a target of this many bytes has a block
  std::uint64_t file_bytes_max = 0;     // fs_maxfilesize
  Extent journal;  // ours, in fs_sparecon64; no fragments: there is none. An external one's is at 0
  std::uint64_t journal_id = 0;  // ours, likewise: of an external journal, the same on its device
  Features features;             // ours, in the place of fs_fsmnt
  bool full_check =
      false;  // with fast_check: what is busy has not been noted; only a full check will do
  std::uint64_t generation =
      0;  // with fast_check: of the busy marks; what has another number is out of date

  std::uint32_t fragments_per_block() const { return block_bytes / fragment_bytes; }  // fs_frag
  /// What a journal takes of the file system's own fragments: nothing where it is external.
  Extent journal_inside() const { return features.external_journal ? Extent{} : journal; }
  /// Everything is on the disk: what has been marked busy so far is not, once this is written.
  void begin_generation() {
    ++generation;
    full_check = false;
  }
};

/// What is wrong with it, or with a file system on a device of `device_bytes`: nothing that was
/// computed from a superblock without a problem overflows, divides by zero, or lies outside. Empty:
/// fine.
std::string problem_of(const Superblock& superblock, std::uint64_t device_bytes);
/// At least kSuperblockUsedBytes. An Error without subject when it is none or has a problem.
Result<Superblock> decode_superblock(std::span<const std::byte> bytes, std::uint64_t device_bytes);
/// Puts it over what is there, which is kSuperblockUsedBytes or more of an older one, or zeroes.
void encode_superblock(const Superblock& superblock, std::span<std::byte> bytes);

// The kinds of files in di_mode, and the same in d_type (IFTODT: shifted right by 12).
using tree::entry_type;
using tree::kTypeBlock;
using tree::kTypeCharacter;
using tree::kTypeDirectory;
using tree::kTypeFifo;
using tree::kTypeMask;
using tree::kTypeRegular;
using tree::kTypeSocket;
using tree::kTypeSymlink;
using tree::Timestamp;

/// struct ufs1_dinode. The attributes are di_mode, di_nlink, di_size, di_atime, di_mtime, di_ctime,
/// di_gen, di_uid and di_gid.
struct Inode : tree::Attributes {
  std::array<FragmentAddress, kDirectPointers> direct = {};      // di_db
  std::array<FragmentAddress, kIndirectPointers> indirect = {};  // di_ib
  std::uint32_t flags = 0;                                       // di_flags
  std::uint32_t sectors = 0;   // di_blocks: allocated, indirects too
  std::uint64_t revision = 0;  // di_modrev
  bool operator==(const Inode&) const = default;
};

/// kInodeBytes each.
Inode decode_inode(std::span<const std::byte> bytes);
void encode_inode(const Inode& inode, std::span<std::byte> bytes);

// Offsets within an inode's bytes, for who undoes or checks single fields of one that lies in a
// block.
inline constexpr std::size_t kInodeModeOffset = 0, kInodeLinksOffset = 2, kInodeSizeOffset = 8,
                             kInodeDirectOffset = 40, kInodeIndirectOffset = 88,
                             kInodeSectorsOffset = 104;

/// A short symbolic link's target lies in the place of the pointers. At most kInlineTargetBytes.
std::string inline_target(const Inode& inode);
void set_inline_target(Inode& inode, std::string_view target);
/// True when the pointers are not pointers: a symbolic link shorter than that, a device's number.
bool pointers_are_text(const Inode& inode, std::uint32_t inline_target_max);

}  // namespace headcrash::ufs
