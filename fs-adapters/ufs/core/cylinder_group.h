#pragma once
// One cylinder group: what is used in it, over the bytes of its header block, which a buffer cache
// holds.
//
//   counts, rotors, runs of free fragments | inodes: 1 used | fragments: 1 free | (clusters: not
//   kept)
//
// Everything here is counted from the group's start: fragment `f` of the group is group_base() + f,
// inode `i` is group * inodes_per_group + i. Each change keeps the group's summary and the table of
// runs (cg_frsum: how often free fragments stand exactly 1, 2, ... together in blocks that are not
// wholly free) as fsck wants them; rotors are the allocator's business. Which group to take is the
// file system's.
//
//   0 firstfield  4 magic  8 time  12 cgx  16 ncyl  18 niblk  20 ndblk  24 summary  40 rotor  44 frotor
//   48 irotor  52 frsum[8]  84 btotoff  88 boff  92 iusedoff  96 freeoff  100 nextfreeoff  104 clustersumoff
//   108 clusteroff  112 nclusterblks

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "fs-adapters/ufs/format/geometry.h"

namespace headcrash::ufs {

inline constexpr std::size_t kGroupTotalsOffset =
    24;  ///< of the Summary in the header, for fsck and schemes
inline constexpr std::uint32_t kGroupFixedBytes = 168;  ///< of the header, before the maps

class CylinderGroup {
 public:
  /// What keeps these bytes (header_bytes() or more) from being the header of that group; empty:
  /// nothing.
  static std::string problem_of(const Geometry& geometry, std::span<const std::byte> header,
                                std::uint32_t group);
  /// Bytes that have no problem. They stay where they are.
  CylinderGroup(const Geometry& geometry, std::span<std::byte> header, std::uint32_t group);
  /// As mkfs makes it: all that is data is free, no inode is used. False: the maps do not fit the
  /// header.
  static bool format(const Geometry& geometry, std::span<std::byte> header, std::uint32_t group);
  /// The size of a header with such maps, and with what the features want in it.
  static std::uint64_t header_bytes(std::uint32_t inodes, std::uint32_t fragments,
                                    const Features& features);
  static std::uint64_t maps_end(std::uint32_t inodes, std::uint32_t fragments);

  std::uint32_t group() const { return group_; }
  std::uint32_t fragments() const { return fragments_; }
  Summary totals() const;
  void set_totals(const Summary& totals);
  std::uint32_t time() const;
  void set_time(std::uint32_t seconds);

  // Rotors: where the last allocation was (cg_rotor, cg_frotor, cg_irotor).
  std::uint32_t block_rotor() const;
  std::uint32_t fragment_rotor() const;
  std::uint32_t inode_rotor() const;
  void set_block_rotor(std::uint32_t fragment);
  void set_fragment_rotor(std::uint32_t fragment);
  void set_inode_rotor(std::uint32_t inode);

  /// With lazy inodes: so many slots, from the first one on, have been zeroed; else all
  /// (cg_initediblk).
  std::uint32_t initialised_inodes() const;
  void set_initialised_inodes(std::uint32_t inodes);

  // Inodes. Slots that are not inodes count as used.
  bool inode_used(std::uint32_t inode) const;
  /// The first free one from `from` on, then from the start.
  std::optional<std::uint32_t> find_inode(std::uint32_t from) const;
  void use_inode(std::uint32_t inode, bool directory);   ///< it must be free
  void free_inode(std::uint32_t inode, bool directory);  ///< it must be used

  // Fragments. `fragment` of a whole block is a multiple of fragments_per_block().
  bool fragment_free(std::uint32_t fragment) const;
  bool block_free(std::uint32_t fragment) const;
  /// All of the run are free; none is. A run lies in one block.
  bool run_free(std::uint32_t fragment, std::uint32_t count) const;
  bool run_used(std::uint32_t fragment, std::uint32_t count) const;
  /// The first free block from `from` on, then from the start.
  std::optional<std::uint32_t> find_block(std::uint32_t from) const;
  /// A run of `count` (less than a block) free fragments inside one block: of the smallest runs
  /// that are long enough, the first from `from` on. Only in blocks that are partly used already:
  /// else take a block.
  std::optional<std::uint32_t> find_fragments(std::uint32_t from, std::uint32_t count) const;
  /// Takes a run that is free and lies in one block (1 to fragments_per_block()).
  void use(std::uint32_t fragment, std::uint32_t count);
  /// Frees a run that is used and lies in one block (who does not trust the disk asks run_used()
  /// before).
  void free(std::uint32_t fragment, std::uint32_t count);
  /// Lets the run grow in place if what is behind it in its block is free.
  bool extend(std::uint32_t fragment, std::uint32_t count, std::uint32_t new_count);
  /// cg_frsum: [n] runs of exactly n.
  std::array<std::uint32_t, 8> runs() const;

  /// Puts the maps and everything counted from them in order: for fsck, which knows what is used.
  void set_inode_used(std::uint32_t inode, bool used);
  void set_fragment_free(std::uint32_t fragment, bool free);
  /// Writes free blocks, free fragments, runs and free inodes as the maps say; keeps the
  /// directories.
  void recount();

  /// The maps' bytes in the header, for who compares them as a whole.
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
