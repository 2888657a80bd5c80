#pragma once
// Determines what each write to an ext2, ext3 or ext4 file system changed: inodes in an inode
// table, bits in a bitmap, names in a directory. Also determines the owner of a data block, and the
// original block of a copy in the journal. Examples:
//
//   inode table of group 0: inode 13, /foo: created; inode 2, /: times
//   journal descriptor block of transaction 7, 3 blocks; copy of block bitmap of group 0: 1 block
//       allocated (1153); ...
//
// Add all writes in the order of submission, then describe them. A description may depend on later
// writes: data is written before the inode that owns it, and a file's directory may be written
// last. All input is untrusted.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/explorer/explain/disk_map.h"
#include "harness/explorer/explain/ext_layout.h"
#include "results/report/crash/crash_page.h"

namespace headcrash::explorer {

class ExtHistory {
 public:
  /// `before` must return the contents that the disk had before the first write. Sectors that
  /// cannot be read are treated as zeroes.
  ExtHistory(ExtLayout layout, ReadSectors before);

  /// Announces a write without its contents. All writes must be announced before the first call of
  /// write().
  void will_write(std::uint64_t lba, std::uint64_t sectors);
  /// Adds a write. Each write must be added exactly once, in ascending order of `request`. Ignores
  /// blocks that the write covers only partly.
  void write(std::size_t request, std::uint64_t lba, std::span<const std::byte> data);
  void zero(std::uint64_t lba, std::uint64_t sectors);

  /// Describes how the write `request` changed the block that begins at `lba`. Returns nullopt if
  /// nothing is known beyond the kind of the block.
  std::optional<BlockKind> kind_of(std::size_t request, std::uint64_t lba) const;
  /// Returns the owner of a block of file data, for example "inode 13, /foo"; an empty string for
  /// other blocks.
  std::string owner(std::size_t request, std::uint64_t lba) const;
  /// Returns the files whose data, inodes or names the write contains. Paths have no leading slash.
  std::vector<std::string> files(std::size_t request, std::uint64_t lba,
                                 std::uint64_t sectors) const;

  std::uint64_t block_bytes() const { return layout_.block_bytes; }

 private:
  using Bytes = std::span<const std::byte>;
  using Block = std::vector<std::byte>;
  using Blocks = std::map<std::uint64_t, Block>;
  /// A change to an inode, for example "inode 13, /foo (created)". The file's name is looked up
  /// when the description is formatted.
  struct Change {
    std::uint64_t inode = 0;  ///< the changed inode; 0 if the description consists of `text` alone
    std::string text;
    /// Second inode that `text` mentions, or 0.
    std::uint64_t about = 0;
  };
  struct Explanation {
    std::string what;
    report::BlockClass block = report::BlockClass::metadata;
    std::vector<Change> changes;
  };
  /// Records that an inode owns a block from `request` on. If `inode` is 0, the block has no owner.
  struct Claim {
    std::size_t request = 0;
    std::uint64_t inode = 0, logical = 0;
    /// The block is part of the block map: an indirect block or an extent tree node.
    bool of_map = false;
  };
  struct Name {
    std::size_t request = 0;
    std::uint64_t parent = 0;
    std::string name;
  };
  /// A range of blocks that holds a block group's metadata.
  struct Place {
    enum class Kind : std::uint8_t {
      block_bitmap,
      inode_bitmap,
      inode_table
    } kind = Kind::inode_table;
    std::uint64_t first = 0, blocks = 0;
    std::size_t group = 0;
  };
  struct NodeClaim {
    std::uint64_t inode = 0;
    ExtBlockMap::Node node;
  };

  /// Reads the names that existed before the first write, and finds out which inode owned which
  /// blocks. Searches at most a few thousand directory blocks.
  void begin();
  std::optional<Block> inode_before(std::uint64_t inode) const;
  void folder_blocks(const ExtBlockMap& map, std::vector<std::uint64_t>& blocks, int depth) const;
  /// Distinguishes a copy of a block in the journal from the block at its final position.
  enum class Copy : std::uint8_t { journal, place };
  Block before(Copy copy, std::uint64_t block) const;
  std::optional<Explanation> explain(std::size_t request, std::uint64_t block, Bytes data,
                                     Copy copy);
  /// Returns true if the block's earlier contents are known from a write to the block or, for
  /// Copy::journal, from an earlier copy in the journal.
  bool known(Copy copy, std::uint64_t block) const;
  Explanation inodes(std::size_t request, const Place& place, std::uint64_t block, Bytes data,
                     const Block& old, bool is_known);
  static Explanation first_bitmap(const Place& place);
  Explanation bitmap(const Place& place, Bytes data, const Block& old) const;
  Explanation directory(std::size_t request, std::uint64_t block, Bytes data, const Block& old);
  std::optional<Explanation> in_journal(std::size_t request, std::uint64_t place, Bytes data);
  Explanation descriptor(std::uint64_t place, Bytes data);
  void learn_journal(Bytes super);

  void claim_inode(std::size_t request, std::uint64_t inode, Bytes bytes);
  void claim(std::size_t request, std::uint64_t inode, const ExtBlockMap& map,
             std::set<std::uint64_t>& own, int depth);
  /// Stores a block that may be an indirect block. Indirect blocks have no magic number and may be
  /// written before the inode that refers to them.
  void remember_pointers(std::uint64_t block, Bytes data);
  Block node_content(std::uint64_t block) const;
  void claim_node(std::size_t request, std::uint64_t block, Bytes data);
  std::optional<Claim> claim_at(std::size_t request, std::uint64_t block) const;
  std::string path(std::size_t request, std::uint64_t inode) const;
  std::string named(std::size_t request, std::uint64_t inode) const;
  std::optional<std::uint64_t> place_in_journal(std::uint64_t block) const;

  ExtLayout layout_;
  ReadSectors before_;
  bool begun_ = false;
  std::vector<Place> places_;        ///< ascending
  std::set<std::uint64_t> written_;  ///< all blocks that any of the writes covers
  /// Newest contents of blocks that may be indirect blocks. The owner of such a block may become
  /// known only later.
  Blocks pointers_;
  Blocks in_place_, logged_;  ///< newest contents of metadata blocks
  std::map<std::pair<std::size_t, std::uint64_t>, Explanation> explanations_;
  /// The claims on each block. Only blocks in `written_` have claims.
  std::map<std::uint64_t, std::vector<Claim>> claims_;
  /// The blocks that each inode owns, keyed by inode.
  std::map<std::uint64_t, std::set<std::uint64_t>> claimed_;
  /// Indirect blocks and extent tree nodes, keyed by block.
  std::map<std::uint64_t, NodeClaim> nodes_;
  std::map<std::uint64_t, std::vector<Name>> names_;  ///< by inode
  /// Maps the position of each copy in the journal to the original block.
  std::map<std::uint64_t, std::uint64_t> copies_;
  std::size_t tag_bytes_ = 8;
  bool wide_tags_ = false, third_tags_ = false, checked_tags_ = false;
};

}  // namespace headcrash::explorer
