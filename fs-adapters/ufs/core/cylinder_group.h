#pragma once
// A cylinder group: the allocation state in the bytes of its header block, which is a cache buffer.
//
//   counts, rotors, runs of free fragments | inodes: 1 used | fragments: 1 free | (no clusters)
//
// All numbers are relative to the group's start: fragment `f` of the group is group_base() + f,
// inode `i` is group * inodes_per_group + i. Each change updates the group's summary and the table
// of runs, as fsck expects. The table, cg_frsum, counts the runs of exactly 1, 2, ... free
// fragments in blocks that are not wholly free. The allocator sets the rotors, and chooses the
// group.
//
//   0 firstfield  4 magic  8 time  12 cgx  16 ncyl  18 niblk  20 ndblk  24 summary  40 rotor
//   44 frotor  48 irotor  52 frsum[8]  84 btotoff  88 boff  92 iusedoff  96 freeoff
//   100 nextfreeoff  104 clustersumoff  108 clusteroff  112 nclusterblks

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "fs-adapters/ufs/format/geometry.h"

namespace headcrash::ufs {

/// Offset of the Summary in the header, used by fsck and the schemes.
inline constexpr std::size_t kGroupTotalsOffset = 24;
/// size of the part of the header that precedes the maps
inline constexpr std::uint32_t kGroupFixedBytes = 168;

class CylinderGroup {
 public:
  /// Validates a header. If the bytes (header_bytes() or more) are not a valid header of that
  /// group, returns the reason; otherwise returns an empty string.
  static std::string problem_of(const Geometry& geometry, std::span<const std::byte> header,
                                std::uint32_t group);
  /// Creates a view of valid bytes, which must outlive it.
  CylinderGroup(const Geometry& geometry, std::span<std::byte> header, std::uint32_t group);
  /// Initialises a header as mkfs does: all data is free, no inode is used. Returns false if the
  /// maps do not fit in the header.
  static bool format(const Geometry& geometry, std::span<std::byte> header, std::uint32_t group);
  /// Returns the size of a header that has maps of this size and the additional areas that the
  /// features require.
  static std::uint64_t header_bytes(std::uint32_t inodes, std::uint32_t fragments,
                                    const Features& features);
  static std::uint64_t maps_end(std::uint32_t inodes, std::uint32_t fragments);

  std::uint32_t group() const { return group_; }
  std::uint32_t fragments() const { return fragments_; }
  Summary totals() const;
  void set_totals(const Summary& totals);
  std::uint32_t time() const;
  void set_time(std::uint32_t seconds);

  // Rotors: positions of the last allocations (cg_rotor, cg_frotor, cg_irotor).
  std::uint32_t block_rotor() const;
  std::uint32_t fragment_rotor() const;
  std::uint32_t inode_rotor() const;
  void set_block_rotor(std::uint32_t fragment);
  void set_fragment_rotor(std::uint32_t fragment);
  void set_inode_rotor(std::uint32_t inode);

  /// With lazy inodes, returns the number of slots zeroed so far (cg_initediblk); otherwise, the
  /// number of all slots.
  std::uint32_t initialised_inodes() const;
  void set_initialised_inodes(std::uint32_t inodes);

  // Inodes. Slots that are not inodes count as used.
  bool inode_used(std::uint32_t inode) const;
  /// Returns the first free inode at or after `from`; wraps around.
  std::optional<std::uint32_t> find_inode(std::uint32_t from) const;
  void use_inode(std::uint32_t inode, bool directory);   ///< `inode` must be free
  void free_inode(std::uint32_t inode, bool directory);  ///< `inode` must be in use

  // Fragments. The first fragment of a block is a multiple of fragments_per_block().
  bool fragment_free(std::uint32_t fragment) const;
  bool block_free(std::uint32_t fragment) const;
  /// Returns true if all fragments of the run are free (run_free) or used. A run is within one
  /// block.
  bool run_free(std::uint32_t fragment, std::uint32_t count) const;
  bool run_used(std::uint32_t fragment, std::uint32_t count) const;
  /// Returns the first free block at or after `from`; wraps around.
  std::optional<std::uint32_t> find_block(std::uint32_t from) const;
  /// Returns the best-fitting run of `count` (less than a block) free fragments within one block;
  /// among equal fits, the first at or after `from`. Searches only partly used blocks. If it
  /// returns nullopt, the caller must break up a whole block.
  std::optional<std::uint32_t> find_fragments(std::uint32_t from, std::uint32_t count) const;
  /// Takes a free run within one block (1 to fragments_per_block() fragments).
  void use(std::uint32_t fragment, std::uint32_t count);
  /// Frees a used run within one block. Callers that do not trust the disk must check run_used()
  /// first.
  void free(std::uint32_t fragment, std::uint32_t count);
  /// Extends the run in place if the following fragments of its block are free. Returns false
  /// otherwise.
  bool extend(std::uint32_t fragment, std::uint32_t count, std::uint32_t new_count);
  /// Returns cg_frsum: element n counts the runs of exactly n free fragments.
  std::array<std::uint32_t, 8> runs() const;

  /// For fsck: set bits in the maps. recount() must be called afterwards.
  void set_inode_used(std::uint32_t inode, bool used);
  void set_fragment_free(std::uint32_t fragment, bool free);
  /// Recomputes free blocks, free fragments, runs and free inodes from the maps. Keeps the
  /// directory count.
  void recount();

  /// Return the bytes of a map in the header, so that whole maps can be compared.
  std::span<std::byte> inode_map() const;
  std::span<std::byte> fragment_map() const;

 private:
  std::uint32_t block_bits(std::uint32_t fragment) const;
  void account_runs(std::uint32_t bits, std::uint32_t by);
  template <typename Change>
  void change_block(std::uint32_t fragment, Change change);

  Geometry geometry_;
  std::span<std::byte> header_;
  std::uint32_t group_;
  std::uint32_t fragments_;
  std::uint32_t inodes_at_, fragments_at_;
};

}  // namespace headcrash::ufs
