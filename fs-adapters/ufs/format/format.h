#pragma once
// The on-disk structures of UFS1 in its 4.4BSD form, little-endian: superblock, summary, inode.
// Cylinder groups are in cylinder_group.h, directories in tree/directory_block.h, addresses in
// geometry.h. FORMAT.md describes the complete format. Names in comments are those in BSD's
// <ufs/ffs/fs.h> and <ufs/ufs/dinode.h>.
//
// Structures are read and written field by field. Writing replaces only the bytes of known fields,
// so that unknown fields of other systems are preserved.
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
/// The number of a fragment, counted from the start of the file system. 0 means no fragment, or a
/// hole.
using FragmentAddress = std::uint32_t;

inline constexpr std::uint32_t kSuperblockMagic = 0x011954;  // FS_MAGIC
// "HHC4": the magic number of file systems with features, in place of FS_MAGIC.
inline constexpr std::uint32_t kFeaturesMagic = 0x34434848;
inline constexpr std::uint32_t kGroupMagic = 0x090255;  // CG_MAGIC
inline constexpr std::uint32_t kJournalAreaMagic =
    0x314a4348;  // "HCJ1": the superblock names a journal
// SBLOCK_UFS1: position of the first superblock.
inline constexpr std::uint32_t kSuperblockByte = 8192;
/// SBLOCKSIZE: space reserved for each superblock.
inline constexpr std::uint32_t kSuperblockBytes = 8192;
inline constexpr std::uint32_t kSuperblockUsedBytes = 1376;  // sizeof(struct fs)
// Offset of fs_clean, in the first sector of the superblock.
inline constexpr std::uint32_t kSuperblockCleanOffset = 209;
inline constexpr std::uint32_t kInodeBytes = 128;
inline constexpr std::uint32_t kSummaryBytes = 16;  // struct csum
inline constexpr std::uint32_t kSectorBytes = 512;  // DEV_BSIZE: the unit of di_blocks

/// ROOTINO. Inode number 0 means no inode, and number 1 was once used for bad blocks.
inline constexpr InodeNumber kRootInode = 2;
// Inode number that mkfs assigns to lost+found. It is 4 if inodes have extensions.
inline constexpr InodeNumber kLostFoundInode = 3;
inline constexpr std::uint32_t kDirectPointers = 12;   // NDADDR
inline constexpr std::uint32_t kIndirectPointers = 3;  // NIADDR
// Maximum length of a symbolic link that is stored in place of the pointers.
inline constexpr std::uint32_t kInlineTargetBytes = 4 * (kDirectPointers + kIndirectPointers);
using tree::kLinksMax;

/// Contiguous fragments that belong, or once belonged, to one pointer.
struct Extent {
  FragmentAddress at = 0;
  std::uint32_t fragments = 0;
  bool operator==(const Extent&) const = default;
};

/// struct csum: the free space in a group or in all groups.
struct Summary {
  std::uint32_t directories = 0;     // cs_ndir
  std::uint32_t free_blocks = 0;     // cs_nbfree: whole blocks
  std::uint32_t free_inodes = 0;     // cs_nifree
  std::uint32_t free_fragments = 0;  // cs_nffree: free fragments that are not part of a free block
  bool operator==(const Summary&) const = default;
};
Summary decode_summary(std::span<const std::byte> bytes);
void encode_summary(const Summary& summary, std::span<std::byte> bytes);

enum class Optimization : std::uint32_t { time = 0, space = 1 };  // FS_OPTTIME, FS_OPTSPACE

/// Features that 4.4BSD does not have. mkfs selects them (FORMAT.md, "Features"). A superblock with
/// features has a different magic number, because systems that do not support a feature must not
/// touch the file system.
struct Features {
  /// Busy marks in the groups, and link tags next to the inodes (busy_marks.h,
  /// inode_extension.h).
  bool fast_check = false;
  /// If true, the addresses of a file's last blocks are cached next to its inode (bmap_cache.h).
  bool bmap_cache = false;
  bool lazy_inodes = false;       ///< inode blocks are zeroed only when they are first used
  bool external_journal = false;  ///< the journal is on a separate device (journal_format.h)
  /// Requires fast_check. If true, the summaries record which groups are busy (busy_map.h).
  bool busy_map = false;
  /// Requires fast_check. If true, a block after each group's header has room for more foreign
  /// inodes.
  bool foreign_block = false;
  bool operator==(const Features&) const = default;

  bool any() const { return netra() || external_journal; }
  /// True if the file system has a feature that is supported only by the scheme Netra (netra.h).
  bool netra() const { return fast_check || bmap_cache || lazy_inodes; }
  /// True if inodes have extensions. Only even inode numbers are then used; the slot after each
  /// inode contains its extension.
  bool extensions() const { return fast_check || bmap_cache; }
};

/// struct fs. Offsets within a group are in fragments.
struct Superblock {
  std::uint32_t superblock_offset = 0;  // fs_sblkno: position of the replica
  std::uint32_t header_offset = 0;      // fs_cblkno
  std::uint32_t inodes_offset = 0;      // fs_iblkno
  std::uint32_t data_offset = 0;        // fs_dblkno
  // fs_cgoffset: distance by which the header shifts from one group to the next.
  std::uint32_t stagger = 0;
  std::uint32_t stagger_mask = 0xffffffffU;  // fs_cgmask
  std::uint32_t written_at = 0;              // fs_time: seconds since the epoch
  std::uint32_t size_fragments = 0;          // fs_size
  // fs_dsize: number of data fragments, without superblocks, headers, inodes and summaries.
  std::uint32_t data_fragments = 0;
  std::uint32_t groups = 0;           // fs_ncg
  std::uint32_t block_bytes = 0;      // fs_bsize, 4096 to 65536
  std::uint32_t fragment_bytes = 0;   // fs_fsize: one eighth to all of fs_bsize, at least 512
  std::uint32_t reserve_percent = 0;  // fs_minfree
  std::uint32_t contiguous_max = 0;   // fs_maxcontig: blocks per cluster
  std::uint32_t blocks_per_file_in_group_max = 0;  // fs_maxbpg
  Optimization optimization = Optimization::time;  // fs_optim
  std::array<std::uint32_t, 2> id = {};            // fs_id
  FragmentAddress summary_address = 0;             // fs_csaddr: the groups' summaries, contiguous
  std::uint32_t summary_bytes = 0;                 // fs_cssize
  std::uint32_t header_bytes = 0;                  // fs_cgsize
  std::uint32_t inodes_per_group = 0;              // fs_ipg
  std::uint32_t fragments_per_group = 0;           // fs_fpg
  Summary total;                                   // fs_cstotal
  // True if the 64-bit copies of the totals differ from the totals, as after a torn write. Set by
  // the decoder; not encoded.
  bool totals_differ = false;
  bool modified = false;          // fs_fmod
  bool clean = false;             // fs_clean
  bool read_only = false;         // fs_ronly
  std::uint32_t group_rotor = 0;  // fs_cgrotor
  /// fs_maxsymlinklen: if a symbolic link's target has this length or more, it is stored in a
  /// block.
  std::uint32_t inline_target_max = 0;
  std::uint64_t file_bytes_max = 0;  // fs_maxfilesize
  // Extension in fs_sparecon64. If there is no journal, the number of fragments is 0. If the
  // journal is external, only the address is 0.
  Extent journal;
  // Extension in fs_sparecon64: identifies an external journal on its device.
  std::uint64_t journal_id = 0;
  Features features;  // extension; stored in the space of fs_fsmnt
  // With the feature fast_check: true if some changes were made without marks, so that only a full
  // check is safe.
  bool full_check = false;
  // With the feature fast_check: busy marks are valid only if they have this generation. All other
  // busy marks are outdated.
  std::uint64_t generation = 0;

  std::uint32_t fragments_per_block() const { return block_bytes / fragment_bytes; }  // fs_frag
  /// Returns the journal's extent within the file system; empty if the journal is external.
  Extent journal_inside() const { return features.external_journal ? Extent{} : journal; }
  /// Starts a new generation, so that all older busy marks become invalid once the superblock has
  /// been written. Must be called only when everything is on the disk.
  void begin_generation() {
    ++generation;
    full_check = false;
  }
};

/// Validates a superblock for a device of `device_bytes`. Returns the problem, or an empty string.
/// Computations with a valid superblock do not overflow, divide by zero, or leave the device.
std::string problem_of(const Superblock& superblock, std::uint64_t device_bytes);
/// Decodes a superblock. `bytes` must have at least kSuperblockUsedBytes. Fails if the superblock
/// is missing or invalid; the subject of the Error is then empty.
Result<Superblock> decode_superblock(std::span<const std::byte> bytes, std::uint64_t device_bytes);
/// Writes the superblock's fields to `bytes`, and leaves all other bytes unchanged. `bytes` must
/// have at least kSuperblockUsedBytes, and must contain an older superblock or zeroes.
void encode_superblock(const Superblock& superblock, std::span<std::byte> bytes);

// The type of a file is in di_mode. In a directory entry it is d_type, which is di_mode shifted
// right by 12 (IFTODT).
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
  std::uint32_t sectors = 0;   // di_blocks: allocated sectors, including indirect blocks
  std::uint64_t revision = 0;  // di_modrev
  bool operator==(const Inode&) const = default;
};

/// `bytes` must have kInodeBytes bytes.
Inode decode_inode(std::span<const std::byte> bytes);
void encode_inode(const Inode& inode, std::span<std::byte> bytes);

// Offsets within an inode's bytes, for code that rolls back or checks single fields in a block.
inline constexpr std::size_t kInodeModeOffset = 0, kInodeLinksOffset = 2, kInodeSizeOffset = 8,
                             kInodeDirectOffset = 40, kInodeIndirectOffset = 88,
                             kInodeSectorsOffset = 104;

/// The following functions read and store the target of a short symbolic link. The target is stored
/// in place of the pointers, and has at most kInlineTargetBytes.
std::string inline_target(const Inode& inode);
void set_inline_target(Inode& inode, std::string_view target);
/// Returns true if the pointer fields hold a short symbolic link or a device number instead of
/// pointers.
bool pointers_are_text(const Inode& inode, std::uint32_t inline_target_max);

}  // namespace headcrash::ufs
