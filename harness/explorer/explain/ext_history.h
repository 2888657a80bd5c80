#pragma once
// What each write to an ext2, ext3 or ext4 changed: which inodes of a piece of an inode table
// differ from what was written there before, which bits of a bitmap, which names of a directory;
// whose block a block is; what the copies in a journal are copies of.
//
//   inode table of group 0: inode 13, /foo: created; inode 2, /: times
//   journal descriptor block of transaction 7, 3 blocks; copy of block bitmap of group 0: 1 block
//   allocated (1153); ...
//
// Writes are taken in the order of their submission and told afterwards: a file's data go to the
// disk before the inode that says whose they are, and a file is known by its name before the
// directory is written. Nothing that is read is trusted.

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
  /// `before`: what was on the disk before the first write; a part that it cannot read counts as
  /// zeroes.
  ExtHistory(ExtLayout layout, ReadSectors before);

  /// First of all writes: which blocks there will be any of.
  void will_write(std::uint64_t lba, std::uint64_t sectors);
  /// Then each of them, once, in order; `request` ascends. What begins or ends within a block is
  /// left out.
  void write(std::size_t request, std::uint64_t lba, std::span<const std::byte> data);
  void zero(std::uint64_t lba, std::uint64_t sectors);

  /// What the write made of the block that begins at `lba`; nothing: it is not known more than its
  /// kind.
  std::optional<BlockKind> told(std::size_t request, std::uint64_t lba) const;
  /// Of a block of a file: "inode 13, /foo"; else empty.
  std::string owner(std::size_t request, std::uint64_t lba) const;
  /// The files that a write is about, without the leading slash: of their data, inodes and names.
  std::vector<std::string> files(std::size_t request, std::uint64_t lba,
                                 std::uint64_t sectors) const;

  std::uint64_t block_bytes() const { return layout_.block_bytes; }

 private:
  using Bytes = std::span<const std::byte>;
  using Block = std::vector<std::byte>;
  using Blocks = std::map<std::uint64_t, Block>;
  /// "inode 13, /foo (created)": the name is not known before the end.
  struct Change {
    std::uint64_t inode = 0;  ///< 0: `text` stands alone
    std::string text;
    std::uint64_t about = 0;  ///< an inode that the text is about, but does not begin with
  };
  struct Story {
    std::string what;
    report::BlockClass block = report::BlockClass::metadata;
    std::vector<Change> changes;
  };
  /// From a request on a block belongs to an inode; 0: to none any more.
  struct Claim {
    std::size_t request = 0;
    std::uint64_t inode = 0, logical = 0;
    bool of_map = false;  ///< an indirect block, or one of an extent tree
  };
  struct Name {
    std::size_t request = 0;
    std::uint64_t parent = 0;
    std::string name;
  };
  /// A stretch of blocks of a group's own.
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

  /// Reads names and owners of what is there before the first write: some thousand blocks of
  /// folders at most.
  void begin();
  std::optional<Block> inode_before(std::uint64_t inode) const;
  void folder_blocks(const ExtBlockMap& map, std::vector<std::uint64_t>& blocks, int depth) const;
  /// Of the journal's copies, or of what is in place.
  enum class Of : std::uint8_t { journal, place };
  Block before(Of of, std::uint64_t block) const;
  std::optional<Story> story_of(std::size_t request, std::uint64_t block, Bytes data, Of of);
  /// Was anything written to it, or to its copy in the journal?
  bool known(Of of, std::uint64_t block) const;
  Story inodes(std::size_t request, const Place& place, std::uint64_t block, Bytes data,
               const Block& old, bool is_known);
  static Story first_bitmap(const Place& place);
  Story bitmap(const Place& place, Bytes data, const Block& old) const;
  Story directory(std::size_t request, std::uint64_t block, Bytes data, const Block& old);
  std::optional<Story> in_journal(std::size_t request, std::uint64_t place, Bytes data);
  Story descriptor(std::uint64_t place, Bytes data);
  void learn_journal(Bytes super);

  void claim_inode(std::size_t request, std::uint64_t inode, Bytes bytes);
  void claim(std::size_t request, std::uint64_t inode, const ExtBlockMap& map,
             std::set<std::uint64_t>& own, int depth);
  /// An indirect block says nothing of itself, and may be written before the inode that leads to
  /// it.
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
  std::set<std::uint64_t> written_;  ///< blocks that any write has
  Blocks pointers_;  ///< newest contents of what may be an indirect block, until it is known whose
  Blocks in_place_, logged_;  ///< newest contents of blocks of the file system's own
  std::map<std::pair<std::size_t, std::uint64_t>, Story> stories_;
  std::map<std::uint64_t, std::vector<Claim>> claims_;  ///< by block, of those that are written
  std::map<std::uint64_t, std::set<std::uint64_t>> claimed_;  ///< by inode: blocks
  std::map<std::uint64_t, NodeClaim> nodes_;                  ///< blocks of maps
  std::map<std::uint64_t, std::vector<Name>> names_;          ///< by inode
  std::map<std::uint64_t, std::uint64_t> copies_;  ///< place in the journal: the block it is for
  std::size_t tag_bytes_ = 8;
  bool wide_tags_ = false, third_tags_ = false, checked_tags_ = false;
};

}  // namespace headcrash::explorer
