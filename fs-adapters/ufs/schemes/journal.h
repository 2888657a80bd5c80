#pragma once
// A write-ahead journal. Metadata changes of many operations are written to the journal as one
// atomic transaction; only then may they be written in place.
//
//   operations    begin ... end   begin ... end         each within one transaction
//   transaction   [ running ------------------ ] closed: no operation inside, blocks are copied
//                                                [ running ...    (the next one)
//   journal                                     [ ordered data, descriptor, images ][ commit ]
//                                               after the commit record, blocks may go in place
//   tail          moves on once all images are in place or in a later transaction
//
// Running. A metadata block is not written while it contains uncommitted changes: before_write()
// permits a write only if the block equals the last committed image of its place. No operation
// waits for this; the syncer's sweep writes the blocks in place, as for every scheme.
//
// Committing. The transaction closes: running operations end, and new ones wait. In-core inodes are
// copied to their blocks, and changed blocks to the transaction's images. Then the next transaction
// opens; later changes do not affect the images. Blocks and inodes that the transaction frees are
// freed in its images at once, but in memory only when the commit record is on the disk. They are
// thus never reused before the commit (R2), and a replay leaves no leak. Data of newly allocated
// blocks is written in place, and the commit record waits for it ("ordered"), so no pointer leads
// to uninitialised data (R3). With JournalOptions::Contents::data, data goes to the journal too, as
// far as it fits into the transaction; the rest is ordered. R1 holds because an operation is within
// one transaction.
//
// If a freed place has an image in the journal, it is revoked, because a replay could otherwise
// overwrite its later content. Each transaction lists the open inodes without a name, which a
// replay releases. While there are any, the last transaction stays in the journal. With
// JournalOptions::Removal::by_syncer, files without a name stay on that list for up to a second.
//
// Space. Each operation reserves the maximum that it may change: kBlocksOfAnOperation. Even a large
// release changes only an inode, three indirect blocks and the groups' headers, which are reserved
// once per transaction. A write that would need more new indirect blocks than an eighth of the ring
// fails with EFBIG. When half of the ring is reserved, the transaction is committed first. Before
// it is written, the tail is moved by writing images in place: from the cached block if it still
// equals the image, otherwise from the image.
//
// The ring may be on a separate device (Superblock::features). The driver's order covers both
// devices, so only flushes differ: of both devices before a commit record, because data is on one
// and the log on the other; of the log after it; of the homes before the tail moves.
//
// All callers that wait when a commit begins share it, unless JournalOptions::Sharing is `none`.
//
// Without a disk write cache, or with a driver that flushes for it
// (DiskQueueOptions::flush_for_order), completed writes are durable. Otherwise set
// JournalOptions::flushes: then all that a commit record covers is durable before it, the record is
// durable before callers continue, and images are durable in place before the tail passes them.
//
// The volume stops (volume.h) if a write of the journal fails, or of an image in place, or of data
// that a commit record waits for. Nothing is committed after that, and all changes fail with EIO
// until a mount has replayed the journal. After a failed write of other data, the data just stays
// dirty.
//
// Source: Tweedie 1998 (journal_format.h) for the order of writes; Hagmann, "Reimplementing the
// Cedar File System Using Logging and Group Commit", 1987, for group commit.

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
  std::uint64_t log_fragments = 0;  ///< fragments written, including descriptors and commit records
  std::uint64_t ordered_writes = 0;  ///< data writes for which a commit waited
  std::uint64_t tail_writes = 0;
  /// Images written in place because their blocks had changed again.
  std::uint64_t stale_images_written = 0;
};

class Journal : public Scheme {
 public:
  /// The volume must have a journal that was emptied for this mount.
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
  bool defers_removal(CoreInode& inode) override;
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
  /// A data write for which a commit waits. The block may be freed and evicted in the meantime.
  struct OrderedWrite {
    os::BufferKey key;
    os::RequestId request = 0;
  };
  /// The transaction that is being committed.
  struct Transaction {
    JournalTransaction record;
    std::vector<os::BufferKey> keys;  ///< keys of the blocks copied to the images
    std::vector<WriteKind> kinds;     ///< kinds of these blocks
    std::map<FragmentAddress, std::size_t> image_at;
    Frees frees;
    /// Data writes that must complete before the commit record is issued.
    std::vector<OrderedWrite> data;
    /// Data that was written in place, because it did not fit into the images.
    std::vector<Extent> written_in_place;
    std::size_t fragments = 0;  ///< total size of the images
    bool empty() const { return record.images.empty() && frees.empty(); }
  };
  /// A committed image that is not yet known to be in place.
  struct Image {
    os::BufferKey key;
    std::uint64_t sequence = 0;
    std::vector<std::byte> bytes;
    WriteKind kind = WriteKind::other;
  };
  /// A transaction in the ring.
  struct Logged {
    std::uint64_t sequence = 0;
    std::uint32_t start = 0, fragments = 0;
    /// Number of images that are neither in place nor in a later transaction.
    std::size_t images = 0;
    bool orphans = false;
  };
  struct Sent {
    FragmentAddress home = 0;    ///< 0 if not tracked
    std::uint64_t sequence = 0;  ///< sequence of the image that was sent
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
  /// Selects whether a commit without changes is written.
  enum class Without : std::uint8_t { nothing, change };
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
  bool write_ring(const JournalTransaction& record, const std::vector<OrderedWrite>& data);
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
  std::uint64_t running_ = 1,
                /// Transaction numbers within this mount; unlike sequence numbers, they are not
      /// those in the ring.
      committed_ = 0;
  std::uint32_t active_ = 0;    ///< running operations
  std::uint32_t blocks_ = 0;    ///< maximum number of blocks changed by operations that have ended
  std::uint32_t indirect_ = 0;  ///< number of new indirect blocks
  os::TimeNs copied_at_ = 0;    ///< time at which the previous transaction was copied
  Frees frees_;
  std::set<os::BufferKey> new_data_;         ///< data of newly allocated blocks
  std::set<InodeNumber> deferred_removals_;  ///< inodes without links that the syncer will remove
  bool timer_ = false;

  // Commits run one at a time.
  bool committing_ = false, closed_ = false;
  os::Fiber* committer_ = nullptr;  ///< set while the transaction is closed
  os::WaitQueue reopened_, idle_, done_;
  const os::BufferKey* let_through_ = nullptr;

  // The ring and its contents.
  std::uint32_t head_ = 0, used_ = 0;
  std::uint64_t sequence_;  ///< sequence number of the next transaction
  std::deque<Logged> log_;
  std::vector<InodeNumber> orphans_;  ///< orphans listed in the newest transaction
  bool too_many_orphans_ = false;
  static constexpr std::size_t kLoggedKept = 16;
  std::map<FragmentAddress, Image> images_;  ///< newest image by home
  /// Fragments that have, or had, an image in the ring.
  std::unordered_map<FragmentAddress, std::uint64_t> logged_;
  std::size_t logged_kept_ = kLoggedKept;           ///< size after the last cleanup
  std::map<os::BufferKey, std::deque<Sent>> sent_;  ///< writes in flight
  JournalCounters counters_;
};

}  // namespace headcrash::ufs
