#pragma once
// A write-ahead journal: what operations change in the metadata goes to the journal first, all of
// many operations at once and whole or not at all; only then may it go to its place.
//
//   operations    begin ... end   begin ... end                          each inside one transaction
//   transaction   [ running ------------------ ] closed: nobody is inside, blocks are copied; the next one
//                                               [ running ...
//   journal                                     [ ordered data, descriptor, images ][ commit ]
//                                               after the commit record blocks may go to their
//                                               places
//   tail          moves behind it once they are all there, or once a later transaction has them
//
// Running. No block of metadata is written while it holds what has not been committed:
// before_write() lets only those go that hold exactly what the last committed image of their place
// holds. Nobody else waits: the syncer's sweep brings them to their places as it does for every
// scheme.
//
// Committing. The doors close: operations under way end, new ones wait. In-core inodes are copied
// to their blocks, and the changed blocks to the transaction's images; the doors open again, so
// that later changes find the images frozen. Blocks and inodes that the transaction frees become
// free in its images at once, and in memory when the commit record is on the disk: so nothing is
// used again before nobody can come back to it (R2), and a replay leaves no leak. Data of newly
// allocated blocks go to their places meanwhile, and the commit record waits for them ("ordered"),
// so that nothing points to what is not initialised (R3). With JournalOptions::Contents::data data
// go the way of metadata, as far as a transaction has room; what has none is ordered. R1 holds
// because an operation lies in one transaction.
//
// A place that is freed and whose image is in the journal is revoked: a replay would otherwise
// write over what it holds by then. Inodes that are open without a name are listed in each
// transaction; a replay releases them. While there are any the last transaction stays in the
// journal. With JournalOptions::Removal::by_syncer files that have lost their last name join that
// list for up to a second.
//
// Room. Each operation reserves what it may change at most: kBlocksOfAnOperation. However much it
// frees, it changes an inode, three indirect blocks and the groups' headers, which are reserved
// once for all operations of a transaction; a write that would need more new indirect blocks than
// an eighth of the ring holds is refused, EFBIG. When half of the ring is spoken for the
// transaction is committed first. Before it is written the tail is moved: by writing images to
// their places, from the block in the cache if that still holds the image, else from the image.
//
// The ring may be on a device of its own (Superblock::features). Nothing above changes: the
// driver's order goes over both devices. Only flushes do: before a commit record of both, since
// data is on one and the log on the other; after it of the log's; before the tail moves of the
// homes'.
//
// Who waits for a commit shares it with everybody who waits when it begins, unless
// JournalOptions::Sharing::none.
//
// A disk without a write cache, or a driver that flushes for it
// (DiskQueueOptions::flush_for_order): complete means durable. Else JournalOptions::flushes: what
// the commit record says must be durable before it, and it before anybody believes in it; images
// must be in their places before the tail leaves them.
//
// A write of the journal, of an image to its place, or of data that a commit record waits for, that
// fails stops the volume (volume.h): nothing is committed any more, and everything that would
// change something fails (EIO) until a mount has replayed what was committed. Other data only stay
// dirty.
//
// Source: Tweedie 1998 (journal_format.h) for the order of things; Hagmann, "Reimplementing the
// Cedar File System Using Logging and Group Commit", 1987, for commits that wait for each other.

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <unordered_map>
#include <vector>

#include "fs-adapters/ufs/core/write_kind.h"
#include "fs-adapters/ufs/format/journal_format.h"
#include "fs-adapters/ufs/schemes/scheme.h"

namespace headcrash::ufs {

struct JournalCounters {
  std::uint64_t commits = 0, images = 0, revoked = 0;
  std::uint64_t log_fragments = 0;   ///< written, descriptors and commit records included
  std::uint64_t ordered_writes = 0;  ///< of data, for a commit
  std::uint64_t tail_writes = 0;
  std::uint64_t stale_images_written =
      0;  ///< to their places, since their blocks had changed again
};

class Journal : public Scheme {
 public:
  /// The volume has a journal that was made empty for this mount.
  Journal(Volume& volume, const SchemeOptions& options);
  std::string_view name() const override { return "journal"; }
  const JournalCounters& counters() const { return counters_; }

  void begin(Operation& operation) override;
  VfsResult<void> end(Operation& operation) override;
  VfsResult<os::HeldBuffer> block_allocated(Operation& operation, const BlockAllocation& allocation,
                                            os::HeldBuffer block) override;
  VfsResult<void> directory_grown(Operation& operation, CoreInode& directory,
                                  std::uint64_t old_size_bytes) override;
  VfsResult<void> blocks_removed(Operation& operation, const BlockRemoval& removal,
                                 os::HeldBuffer holder) override;
  VfsResult<void> link_added(Operation& operation, const LinkAddition& addition,
                             os::HeldBuffer directory_block) override;
  VfsResult<void> link_removed(Operation& operation, const LinkRemoval& removal,
                               os::HeldBuffer directory_block) override;
  bool puts_off_removal(CoreInode& inode) override;
  VfsResult<void> inode_removed(Operation& operation, const InodeRemoval& removal) override;
  VfsResult<void> fsync(Operation& operation, CoreInode& inode, SyncExtent extent) override;
  VfsResult<void> sync() override;
  bool reclaim() override;
  std::size_t bytes_in_core() const override;
  bool before_write(os::Outgoing& write) override;
  void after_write(const os::BufferKey& key, os::RequestId id, model::Status status) override;

 private:
  struct FreedInode {
    InodeNumber number = 0;
    bool directory = false;
  };
  struct Frees {
    std::vector<Extent> extents;
    std::vector<FreedInode> inodes;
    bool empty() const { return extents.empty() && inodes.empty(); }
  };
  /// A write of data that a commit waits for. The block may be freed, and forgotten by the cache,
  /// meanwhile.
  struct OrderedWrite {
    os::BufferKey key;
    os::RequestId request = 0;
  };
  /// What is being committed.
  struct Transaction {
    JournalTransaction record;
    std::vector<os::BufferKey> keys;  ///< of the blocks that the images were copied from
    std::vector<WriteKind> kinds;     ///< what these are
    std::map<FragmentAddress, std::size_t> image_at;
    Frees frees;
    std::vector<OrderedWrite> data;  ///< that must be in its place before the commit record goes
    std::vector<Extent> written_in_place;  ///< data without room among the images
    std::size_t fragments = 0;             ///< of the images
    bool empty() const { return record.images.empty() && frees.empty(); }
  };
  /// Committed, and not yet known to be in its place.
  struct Image {
    os::BufferKey key;
    std::uint64_t sequence = 0;
    std::vector<std::byte> bytes;
    WriteKind kind = WriteKind::other;
  };
  /// In the ring.
  struct Logged {
    std::uint64_t sequence = 0;
    std::uint32_t start = 0, fragments = 0;
    std::size_t images = 0;  ///< not in their places, and in no later transaction
    bool orphans = false;
  };
  struct Sent {
    FragmentAddress home = 0;    ///< 0: nobody waits for it
    std::uint64_t sequence = 0;  ///< of the image that it held
  };
  class LogWrite;
  using Writes = std::vector<std::unique_ptr<LogWrite>>;

  // journal.cc
  void may_change(Operation& operation, std::uint32_t blocks) { operation.blocks += blocks; }
  std::uint32_t groups_of(const std::vector<Extent>& extents) const;
  bool has_room();
  void commit_later();
  VfsResult<void> commit_through(std::uint64_t transaction);
  VfsResult<void> commit_alone();
  void commit_with(Operation& operation);
  FragmentAddress home_of(std::uint64_t lba) const;
  bool journalled(os::Content content, const os::BufferKey& key, FragmentAddress home) const;
  const Image* committed(FragmentAddress home, std::span<const std::byte> bytes) const;

  // journal_commit.cc
  enum class Without : std::uint8_t {
    nothing,
    change
  };  ///< a commit of no change: not written, or written
  void commit(Without change = Without::nothing);
  bool close_and_copy(Transaction& transaction);
  bool copy_inodes();
  void copy_blocks(Transaction& transaction);
  void copy_block(Transaction& transaction, const os::HeldBuffer& buffer);
  void order_data(Transaction& transaction);
  void send_in_place(Transaction& transaction, os::HeldBuffer buffer);
  void free_in_images(Transaction& transaction);
  std::span<std::byte> header_image(Transaction& transaction, std::uint32_t group);
  void list_orphans(Transaction& transaction);
  void revoke(Transaction& transaction);
  void revoke(Transaction& transaction, const Extent& extent);
  bool write(Transaction& transaction);
  bool put_into_ring(const JournalTransaction& record, const std::vector<OrderedWrite>& data);
  bool arrived(const std::vector<OrderedWrite>& data);
  void send(Writes& writes, std::uint32_t position, std::span<const std::byte> bytes);
  bool all_written(const Writes& writes);
  enum class Where : std::uint8_t { homes, log };
  bool flush(Where where);
  void send_home(const Transaction& transaction);
  void send_unawaited(std::uint32_t position, std::span<const std::byte> fragment);
  void logged(Transaction& transaction, std::uint32_t fragments);
  void release(const Frees& frees);

  // journal_checkpoint.cc
  std::uint32_t free_fragments() const { return ring_.fragments() - used_; }
  bool make_room(std::uint32_t fragments);
  bool log_orphans();
  bool checkpoint(std::uint64_t last);
  struct StaleImage;
  void send_image(FragmentAddress home, std::vector<StaleImage>& stale,
                  std::vector<os::RequestId>& through_cache);
  bool move_tail();
  void forget_logged();
  void in_place(FragmentAddress home, std::uint64_t sequence);
  void forget_overlapping(const Extent& extent, std::uint64_t before);
  void drop(std::map<FragmentAddress, Image>::iterator image);

  JournalRing ring_;
  JournalSuperblock super_;
  std::uint32_t limit_blocks_, indirect_max_;

  // The running transaction.
  std::uint64_t running_ = 1, committed_ = 0;  ///< numbers of this mount; not those in the ring
  std::uint32_t active_ = 0;                   ///< operations
  std::uint32_t blocks_ = 0;                   ///< that ended operations have changed, at most
  std::uint32_t indirect_ = 0;                 ///< new indirect blocks
  os::TimeNs copied_at_ = 0;                   ///< when the one before it was
  Frees frees_;
  std::set<os::BufferKey> new_data_;  ///< of newly allocated blocks
  std::set<InodeNumber> put_off_;     ///< without links, and the syncer's to remove
  bool timer_ = false;

  // Commits, one at a time.
  bool committing_ = false, closed_ = false;
  os::Fiber* committer_ = nullptr;  ///< while the doors are closed
  os::WaitQueue doors_, idle_, done_;
  const os::BufferKey* let_through_ = nullptr;

  // The ring, and what is in it.
  std::uint32_t head_ = 0, used_ = 0;
  std::uint64_t sequence_;  ///< of the next transaction
  std::deque<Logged> log_;
  std::vector<InodeNumber> orphans_;  ///< as the last transaction lists them
  bool too_many_orphans_ = false;
  static constexpr std::size_t kLoggedKept = 16;
  std::map<FragmentAddress, Image> images_;  ///< by home, the newest
  std::unordered_map<FragmentAddress, std::uint64_t>
      logged_;  ///< fragments with an image in the ring, and some that had one
  std::size_t logged_kept_ = kLoggedKept;           ///< when it was looked through last
  std::map<os::BufferKey, std::deque<Sent>> sent_;  ///< writes under way
  JournalCounters counters_;
};

}  // namespace headcrash::ufs
