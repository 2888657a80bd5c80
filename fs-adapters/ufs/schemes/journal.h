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
// permits a write only if the block equals the last image that was committed for its place. No
// operation waits for a write in place: the syncer's sweep writes the blocks, as in every scheme.
//
// Committing. The transaction closes: running operations end, and new ones wait. In-core inodes are
// copied to their blocks, and changed blocks are copied to the transaction's images. Then the next
// transaction opens; later changes do not affect the images. Blocks and inodes that the transaction
// frees are freed in its images at once, but in memory only when the commit record is on the disk.
// They are thus never reused before the commit (R2), and a replay leaves no leak. Data of newly
// allocated blocks is written in place, and the commit record waits for it ("ordered"), so no
// pointer leads to uninitialised data (R3). With JournalOptions::Contents::data, data also goes to
// the journal if the transaction has room for it; the rest is ordered. R1 holds because an
// operation is within one transaction.
//
// If a place that is freed has an image in the journal, the image is revoked, because a replay
// could otherwise overwrite later contents of the place. Each transaction lists the open inodes
// without a name, which a replay releases. While there are such inodes, the last transaction stays
// in the journal. With JournalOptions::Removal::by_syncer, files without a name stay on that list
// for up to a second.
//
// Space. Each operation reserves the maximum number of blocks that it may change:
// kBlocksOfAnOperation. Even a large release changes only an inode, three indirect blocks and the
// groups' headers, which are reserved once per transaction. A write that would need more new
// indirect blocks than an eighth of the ring fails with EFBIG. When half of the ring is reserved,
// the transaction is committed first. Before the new transaction is written, the tail is moved. For
// this, images are written in place: from the cached block if that block still equals the image,
// otherwise from the image.
//
// The ring may be on a separate device (Superblock::features). The driver's order covers both
// devices, so only the flushes differ. Before a commit record, both devices are flushed, because
// data is on one and the log on the other. After the record, the log's device is flushed. Before
// the tail moves, the device with the homes is flushed.
//
// All callers that are waiting when a commit begins share it, unless JournalOptions::Sharing is
// `none`.
//
// If the disk has no write cache, or if the driver flushes it (DiskQueueOptions::flush_for_order),
// completed writes are durable. Otherwise, JournalOptions::flushes must be set: then everything
// that a commit record covers is durable before the record, the record is durable before callers
// continue, and images are durable in place before the tail passes them.
//
// The volume stops (volume.h) if one of these writes fails: a write to the journal, a write of an
// image in place, or a write of data for which a commit record waits. Nothing is committed after
// that, and all changes fail with EIO until a mount has replayed the journal. If a write of other
// data fails, the data just stays dirty.
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
  std::uint64_t ordered_writes = 0;  ///< number of data writes for which a commit waited
  std::uint64_t tail_writes = 0;
  /// Number of images that had to be written in place because their blocks had changed again.
  std::uint64_t stale_images_written = 0;
};

class Journal : public Scheme {
 public:
  /// REQUIRES: the volume has a journal, and the journal is empty.
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
  /// A data write that must be complete before the commit. Its block may be freed and evicted
  /// before then.
  struct OrderedWrite {
    os::BufferKey key;
    os::RequestId request = 0;
  };
  /// The transaction that is being committed.
  struct Transaction {
    JournalTransaction record;
    std::vector<os::BufferKey> keys;  ///< keys of the blocks copied to the images
    std::vector<WriteKind> kinds;     ///< kind of each of these blocks
    std::map<FragmentAddress, std::size_t> image_at;
    Frees frees;
    /// Data writes that must complete before the commit record is issued.
    std::vector<OrderedWrite> data;
    /// Extents of data that was written in place because there was no room for it in the journal.
    std::vector<Extent> written_in_place;
    std::size_t fragments = 0;  ///< total size of the images
    bool empty() const { return record.images.empty() && frees.empty(); }
  };
  /// A committed image that may not be in place yet.
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
    /// Number of images that are still needed: not in place yet, not replaced by an image in a
    /// later transaction, and not the image of a freed block.
    std::size_t images = 0;
    bool orphans = false;
  };
  struct Sent {
    FragmentAddress home = 0;    ///< 0 if the write is not tracked
    std::uint64_t sequence = 0;  ///< sequence number of the image that was sent
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

  // The following functions are defined in journal_commit.cc. commit(Without::change) writes a
  // commit even if there are no changes.
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

  // The running transaction. Transactions are numbered within this mount; these numbers are not the
  // sequence numbers in the ring.
  std::uint64_t running_ = 1, committed_ = 0;
  std::uint32_t active_ = 0;  ///< running operations
  /// Upper bound on the number of blocks that finished operations have changed in the running
  /// transaction.
  std::uint32_t blocks_ = 0;
  std::uint32_t indirect_ = 0;  ///< number of new indirect blocks allocated in this transaction
  os::TimeNs copied_at_ = 0;    ///< time at which the previous transaction's blocks were copied
  Frees frees_;
  std::set<os::BufferKey> new_data_;  ///< keys of newly allocated data blocks
  /// Inodes without links that the syncer is about to remove.
  std::set<InodeNumber> deferred_removals_;
  bool timer_ = false;

  // Only one commit runs at a time.
  bool committing_ = false, closed_ = false;
  /// The fiber that is committing; set only while the transaction is closed.
  os::Fiber* committer_ = nullptr;
  os::WaitQueue reopened_, idle_, done_;
  const os::BufferKey* let_through_ = nullptr;

  // State of the ring, and the transactions in it.
  std::uint32_t head_ = 0, used_ = 0;
  std::uint64_t sequence_;  ///< sequence number of the next transaction
  std::deque<Logged> log_;
  std::vector<InodeNumber> orphans_;  ///< the orphans that the newest transaction lists
  bool too_many_orphans_ = false;
  static constexpr std::size_t kLoggedKept = 16;
  std::map<FragmentAddress, Image> images_;  ///< the newest image of each home
  /// For each fragment, the last transaction that has an image of the fragment. This transaction
  /// may no longer be in the ring.
  std::unordered_map<FragmentAddress, std::uint64_t> logged_;
  /// Size of `logged_` when outdated entries were last dropped.
  std::size_t logged_kept_ = kLoggedKept;
  std::map<os::BufferKey, std::deque<Sent>> sent_;  ///< writes in flight
  JournalCounters counters_;
};

}  // namespace headcrash::ufs
