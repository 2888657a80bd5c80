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

/// Offset of the Summary in the header. Used by fsck and the schemes.
inline constexpr std::size_t kGroupTotalsOffset = 24;
/// Size of the header's fixed part, which precedes the maps.
inline constexpr std::uint32_t kGroupFixedBytes = 168;

class CylinderGroup {
 public:
  /// Validates a header. Returns an empty string if the bytes (header_bytes() or more) are a valid
  /// header of group `group`. Otherwise, returns the reason why they are not.
  static std::string problem_of(const Geometry& geometry, std::span<const std::byte> header,
                                std::uint32_t group);
  /// Creates a view of a valid header, whose bytes must outlive it.
  CylinderGroup(const Geometry& geometry, std::span<std::byte> header, std::uint32_t group);
  /// Initialises a header for mkfs: all data is free and no inode is in use. Returns false if the
  /// maps do not fit in the header.
  static bool format(const Geometry& geometry, std::span<std::byte> header, std::uint32_t group);
  /// Returns the size of a header with maps for this many inodes and fragments, and with the
  /// additional areas that the features require.
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

  /// With lazy inodes, returns the number of zeroed slots (cg_initediblk). Otherwise, returns the
  /// number of slots.
  std::uint32_t initialised_inodes() const;
  void set_initialised_inodes(std::uint32_t inodes);

  // The following functions take the numbers of inode slots. Slots that cannot hold an inode count
  // as in use.
  bool inode_used(std::uint32_t inode) const;
  /// Returns the first free inode at or after `from`, or else the first free one before it.
  std::optional<std::uint32_t> find_inode(std::uint32_t from) const;
  void use_inode(std::uint32_t inode, bool directory);   ///< `inode` must be free
  void free_inode(std::uint32_t inode, bool directory);  ///< `inode` must be in use

  // In the following functions, `fragment` is a fragment number. Blocks begin at multiples of
  // fragments_per_block().
  bool fragment_free(std::uint32_t fragment) const;
  bool block_free(std::uint32_t fragment) const;
  /// run_free() returns true if all fragments of the run are free, and run_used() if all are in
  /// use. A run must be within one block.
  bool run_free(std::uint32_t fragment, std::uint32_t count) const;
  bool run_used(std::uint32_t fragment, std::uint32_t count) const;
  /// Returns the first free block at or after `from`, or else the first free one before it.
  std::optional<std::uint32_t> find_block(std::uint32_t from) const;
  /// Returns the best-fitting run of at least `count` free fragments in a partly used block.
  /// `count` must be less than the number of fragments in a block. Among equal fits, returns the
  /// first one at or after `from`. If there is no such run, returns nullopt; the caller must then
  /// break up a whole block.
  std::optional<std::uint32_t> find_fragments(std::uint32_t from, std::uint32_t count) const;
  /// Marks a free run as used. The run must be within one block.
  void use(std::uint32_t fragment, std::uint32_t count);
  /// Marks a used run as free. The run must be within one block. Callers that do not trust the disk
  /// must check run_used() first.
  void free(std::uint32_t fragment, std::uint32_t count);
  /// Extends a run without moving it, if the following fragments of its block are free. Otherwise
  /// returns false.
  bool extend(std::uint32_t fragment, std::uint32_t count, std::uint32_t new_count);
  /// Returns cg_frsum: element n is the number of runs of exactly n free fragments.
  std::array<std::uint32_t, 8> runs() const;

  /// For fsck: these functions set bits in the maps without updating the counts, so recount() must
  /// be called afterwards.
  void set_inode_used(std::uint32_t inode, bool used);
  void set_fragment_free(std::uint32_t fragment, bool free);
  /// Recomputes free blocks, free fragments, runs and free inodes from the maps. Keeps the
  /// directory count.
  void recount();

  /// The following functions return the bytes of a map in the header, for callers that compare
  /// whole maps.
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
