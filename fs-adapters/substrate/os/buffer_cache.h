#pragma once
// The buffer cache: blocks of a disk in memory of a fixed size, and the three ways to write one.
//
// A buffer is named by its object and block (BufferKey), which are the file system's business, and
// has a home on the disk, which may change: a fragment that grows moves, a log writes each block
// somewhere else. Who has a buffer holds its lock.
//
//   get/read -> held -> release                      nothing has changed
//                    -> write_delayed                dirty; the syncer writes it, or who needs the room
//                    -> write_async                  issued now; nobody waits
//                    -> write                        issued now; the caller waits
//
// What is sent to the disk is what the buffer holds when it is issued. Without `block_copy` the
// buffer stays locked until the request is complete, and a second updater waits (Ganger and Patt
// 1994, section 3.3); with it (-CB) a private copy travels, which takes its room in the cache;
// where there is none left the buffer travels itself, locked. A block of zeroes needs no copy.
// Hooks see a buffer before it is sent, may send other bytes instead (soft updates undo what must
// not be seen yet, a journal keeps back what is not committed), and hear of its completion. When no
// clean buffer is left the caller of get() pays: it writes the oldest dirty ones and waits. Only
// what nobody can write now (held, kept back by a hook) may exceed the size.
//
// Two writes of the same home reach the disk in the order they were issued (disk_queue.h).
//
// A file system that writes each block to a new place (a log) has buffers without a home: their
// address is kUnassigned until it writes them. The cache never writes those by itself. It asks
// their BufferOwner when it needs room or is to flush, and the owner writes many at once with
// write_gathered(), one request for a whole segment. Buffers with a home are written as ever, also
// in such a cache.
//
// Bounds: buffers, counted copies and charges together take `bytes`, what exceeds that is counted;
// charges take `charged_bytes_max`, copies `copies_bytes`. A write on its way has its buffer locked
// or pinned or a counted copy, but for blocks of zeroes with -CB, which cost nothing: of all writes
// together no more than `writes_max` are on their way, and who would issue one more waits. A block
// whose write failed is in the cache, so that what is known of errors is bounded by its size.
//
// A buffer is clean from the moment its write is issued. If the write fails it is dirty again, with
// what it holds by then, and is written again by the next sweep or flush: nothing is lost to an
// error, and a flush is a statement about the disk, not about events. It returns an error as long
// as a block that it covers has not been written since its last write failed, to everybody who
// asks, however often; a retry that succeeds ends that. A block that failed is not written to make
// room, so that a bad disk does not keep who needs a buffer: such blocks may exceed the cache's
// size, and the file system has to stop before they are too many (failed_bytes()).

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "fs-adapters/substrate/os/disk_queue.h"

namespace headcrash::os {

/// `object` 0 is the disk itself: its blocks are named by their place.
struct BufferKey {
  std::uint64_t object = 0;  ///< an inode's number
  std::int64_t block = 0;    ///< logical block; negative for what is not data
  bool operator==(const BufferKey&) const = default;
  bool operator<(const BufferKey& other) const {
    return object != other.object ? object < other.object : block < other.block;
  }
};

/// The address of a buffer that has no place on the disk yet.
inline constexpr std::uint64_t kUnassigned = ~std::uint64_t{0};

/// What a buffer holds: only metadata is held back by write locks. Hooks see both: pointers to data
/// wait for it.
enum class Content : std::uint8_t { metadata, data };

class Buffer;  ///< buffer_state.h

/// A buffer whose lock is held. Its destructor releases it unchanged.
class HeldBuffer {
 public:
  HeldBuffer() = default;
  HeldBuffer(HeldBuffer&& other) noexcept;
  HeldBuffer& operator=(HeldBuffer&& other) noexcept;
  ~HeldBuffer();

  explicit operator bool() const { return buffer_ != nullptr; }
  const BufferKey& key() const;
  std::uint64_t lba() const;  ///< its home; kUnassigned: none yet
  Content content() const;
  std::span<std::byte> bytes() const;
  bool dirty() const;
  /// As BufferCache::being_written().
  RequestId being_written() const;

 private:
  friend class BufferCache;
  HeldBuffer(class BufferCache& cache, Buffer& buffer) : cache_(&cache), buffer_(&buffer) {}
  BufferCache* cache_ = nullptr;
  Buffer* buffer_ = nullptr;
};

/// What a write is about to send.
struct Outgoing {
  BufferKey key;
  std::uint64_t lba = 0;
  Content content = Content::metadata;
  std::span<std::byte> bytes;  ///< the buffer's own
  std::span<const std::byte>
      source;             ///< what is sent: the buffer's bytes unless a hook says otherwise; it
                          ///< must stay valid until the call returns, a copy is made
  Ordering ordering;      ///< a hook may add to it
  std::uint8_t kind = 0;  ///< BlockRequest::kind, which a hook may set
};

/// The file system's eyes on what is written. Called between fibers' steps: neither may wait.
class WriteHooks {
 public:
  virtual ~WriteHooks() = default;
  /// False: not now; the buffer stays dirty (a journal that has not committed yet).
  virtual bool before_write(Outgoing& write) = 0;
  /// Once for each write that before_write let go, those of one home in its order; also for buffers
  /// that were discarded meanwhile. What was sent in place of the buffer's bytes is not what it
  /// holds: such a buffer is in the cache until this returns, and the hooks ask for its next write
  /// (mark_dirty), here or later.
  virtual void after_write(const BufferKey& key, RequestId id, model::Status status) = 0;
  /// The block is not on the disk: after after_write() with an error, when its buffer is dirty
  /// again. Not for what was discarded meanwhile.
  virtual void write_failed(const BufferKey& key, Content content) { (void)key, (void)content; }
};

/// Who writes the buffers without a home.
class BufferOwner {
 public:
  virtual ~BufferOwner() = default;
  /// A fiber needs room for `bytes`, nothing clean is left, and there are dirty buffers without a
  /// home. Called on that fiber, which may hold other buffers and locks of the file system: the
  /// owner must not wait for a lock, nor call get(), read(), charge() or a flush here. It issues
  /// gathered writes of what try_hold() gives it, or wakes a fiber of its own that will, or gives
  /// up memory that it has charged. True: something has been issued, given up, or is going to be:
  /// the caller waits until a request arrives, memory is uncharged or wake_who_need_room() is
  /// called, and asks again if there is still no room. False: nothing can be written now; the
  /// caller continues beyond the size of the cache (over_bytes_most).
  virtual bool need_room(std::size_t bytes) = 0;
  /// Writes all dirty buffers without a home of the object (null: of all objects), and returns when
  /// they are on the disk, or how it failed. Called on the fiber that flushes, which holds no
  /// buffer; may wait.
  virtual model::Status flush(const std::uint64_t* object) = 0;
};

/// One piece of a gathered write: a buffer that the calling fiber holds, or bytes of the owner's
/// own (a summary), which are copied during the call. A multiple of 512 bytes each.
struct GatheredPart {
  HeldBuffer buffer = {};
  std::span<const std::byte> bytes = {};  ///< only without a buffer
};

struct BufferCacheOptions {
  std::uint64_t bytes = 36 << 20;  ///< all buffers together
  bool block_copy = false;         ///< -CB
  /// -CB: room that copies may take together, each in pages of 4 KiB; who would make one more waits
  /// until others have arrived. 0: as much as there is.
  std::uint64_t copies_bytes = 0;
  /// Of `bytes`: metadata up to so much stay when data needs room, and what is more goes before any
  /// data does. 0: the longest unused goes, whatever it holds.
  std::uint64_t metadata_bytes = 0;
  bool lock_data = false;  ///< data blocks, too, are locked while they are written
  /// Of `bytes`: kept for fibers with a RoomReserve, so that who makes room finds some.
  std::uint64_t reserve_bytes = 0;
  std::uint64_t charged_bytes_max = ~std::uint64_t{0};  ///< of `bytes`: all charges together
  /// A file system's structures in core are charged (tree/inode_store.h). Off: memory that nobody
  /// counts.
  bool structures_count = false;
  std::uint32_t gathered_bytes_max = 4 << 20;  ///< one gathered write
  std::size_t writes_max = 1 << 20;  ///< on their way; each buffer of a gathered one counts
};

struct BufferCacheCounters {
  std::uint64_t hits = 0, misses = 0;
  std::uint64_t sync_writes = 0, async_writes = 0, delayed_writes = 0;
  std::uint64_t forced_writes = 0;  ///< by who needed a buffer
  std::uint64_t lock_waits = 0;     ///< for a buffer that was being written
  std::uint64_t gathered_writes = 0, gathered_buffers = 0;
  std::uint64_t room_asked = 0;       ///< calls of BufferOwner::need_room()
  std::uint64_t over_bytes_most = 0;  ///< by which the size was exceeded
};

class BufferCache {
 public:
  /// Nothing may be on its way when it goes, unless the simulation never runs again: flush_all()
  /// first.
  BufferCache(Executor& executor, Cpu& cpu, DiskQueue& disk, const BufferCacheOptions& options);
  ~BufferCache();

  void hooks(WriteHooks* hooks);
  /// Null: none. It outlives the cache, or is taken away when no dirty buffer without a home is
  /// left.
  void owner(BufferOwner* owner);

  // From within a fiber. A length is a multiple of 512 bytes.
  /// What is in the cache, or zeroes: for who overwrites it all. A buffer that is there with
  /// another home or length gets the new one; what it gains is zero. A new buffer that is released
  /// unwritten is forgotten.
  HeldBuffer get(const BufferKey& key, Content content, std::uint64_t lba, std::size_t bytes);
  /// What is in the cache, or on the disk.
  tl::expected<HeldBuffer, model::Status> read(const BufferKey& key, Content content,
                                               std::uint64_t lba, std::size_t bytes);
  /// For blocks that somebody else may move (a cleaner, a retry elsewhere after an error): `home`
  /// is asked when there is room for the block, and nobody moves it from then on. It must not wait.
  /// kUnassigned: it cannot say without waiting; device_failed is returned and nothing has been
  /// read.
  tl::expected<HeldBuffer, model::Status> read(const BufferKey& key, Content content,
                                               const std::function<std::uint64_t()>& home,
                                               std::size_t bytes);
  /// Only what is in the cache already.
  HeldBuffer cached(const BufferKey& key);
  /// Reads it soon, if there is room; nobody waits.
  void read_ahead(const BufferKey& key, Content content, std::uint64_t lba, std::size_t bytes);

  void release(HeldBuffer buffer);
  void write_delayed(HeldBuffer buffer);
  /// 0: a hook said not now, and the buffer is dirty.
  RequestId write_async(HeldBuffer buffer, const Ordering& ordering = {});
  /// ok: it is on the disk. device_failed: the disk said so, or a hook said not now and nothing was
  /// sent.
  model::Status write(HeldBuffer buffer, const Ordering& ordering = {});

  /// Its owner has taken what it holds and writes it to `lba`, from now on its home: it is clean.
  void moved(HeldBuffer buffer, std::uint64_t lba);

  // Buffers without a home. They are made so by get() with kUnassigned, or by write_unassigned();
  // while such a buffer is dirty, the home that get() or read() names is ignored. write() and
  // write_async() do not send it, sweeps and write_behind() pass over it.

  /// Dirty; the home that it had, if any, is its home no more.
  void write_unassigned(HeldBuffer buffer);
  /// Only what is in the cache and nobody holds or reads; never waits. Empty: none such.
  HeldBuffer try_hold(const BufferKey& key);
  /// One request: the parts one after another from `lba` on. Each buffer's home becomes its place
  /// there when the request is issued, also if it had another, and it is clean from then on
  /// (unwritten() until it arrives). If the write fails its buffers are dirty again, those that had
  /// no home without one. A second write of a buffer whose first has not arrived goes after it, to
  /// wherever either goes; if the first fails so does the second. Without -CB the buffers of
  /// metadata stay locked until the request is complete; with it, where there is room for it, a
  /// copy travels and takes its room in the cache. Hooks are asked for each buffer before anything
  /// is sent. If one says not now, nothing is, all buffers are dirty as they were, those that had
  /// been let go hear of an error, and 0 is returned. Waits for the processor, and for others'
  /// copies where copies_bytes limits them; not for the disk. `done` may be null; it is called
  /// after the buffers are updated, and must outlive the request.
  RequestId write_gathered(std::uint64_t lba, std::vector<GatheredPart> parts,
                           const Ordering& ordering = {}, DiskDone* done = nullptr);
  /// What an owner has to write, in the order of becoming dirty; without waiting.
  std::vector<BufferKey> unassigned() const;
  std::size_t unassigned_bytes() const;  ///< dirty ones
  /// Those whom need_room() has told to wait look again.
  void wake_who_need_room();

  // Memory of the file system's own (inodes in core, maps, dependencies) in the same total. Bounded
  // by charged_bytes_max.

  /// The calling fiber waits for room as get() does. False: more than may be charged, nothing has
  /// been: give something up first.
  bool charge(std::size_t bytes);
  /// Without waiting; false also when there is no room. For handlers.
  bool try_charge(std::size_t bytes);
  void uncharge(std::size_t bytes);  ///< from anywhere; no more than is charged
  std::size_t charged_bytes() const;
  std::size_t used_bytes() const;  ///< buffers, counted copies and charges

  // Without its lock, and without waiting.
  /// The last write of the block that has not arrived, be it a copy of what the cache has dropped
  /// since; 0: none.
  RequestId being_written(const BufferKey& key) const;
  /// Dirty, or being written.
  bool unwritten(const BufferKey& key) const;
  /// A write of it failed, and none has succeeded since.
  bool write_failed(const BufferKey& key) const;
  std::size_t failed_bytes() const;  ///< of all such blocks
  std::uint64_t size_bytes() const;  ///< as the options say
  bool structures_count() const;     ///< as the options say
  /// Without its lock; hooks use it: redone after it was sent undone. False: it is not in the
  /// cache.
  bool mark_dirty(const BufferKey& key);
  /// Forgets it, dirty or not; who holds it keeps it for himself. What is on its way arrives.
  void discard(const BufferKey& key);
  void discard_object(std::uint64_t object);
  void discard_all();

  /// Issues what is dirty, waits for it and for what was on its way; what has no home is flushed by
  /// its owner (device_failed when there is none). An error: some of it is not on the disk (see
  /// above). Hooks may keep it dirty: the caller looks again. It knows what was there when it
  /// began.
  model::Status flush_object(std::uint64_t object);
  model::Status flush_all();
  bool any_dirty() const;
  bool any_unwritten() const;  ///< dirty, or on its way: of what others have issued, too
  /// For the syncer: keys of dirty buffers, oldest first, with when they became dirty and when they
  /// were changed last.
  struct Dirty {
    BufferKey key;
    TimeNs dirtied_at = 0, modified_at = 0;
    Content content = Content::metadata;
    std::uint64_t lba = 0;  ///< kUnassigned: its owner writes it
    std::uint64_t bytes = 0;
  };
  std::vector<Dirty> dirty() const;
  /// Those that have been changed at `since` or later, in the same order. Costs what it returns.
  std::vector<Dirty> dirty_since(TimeNs since) const;
  /// How many of those are metadata.
  std::size_t dirty_metadata_since(TimeNs since) const;
  /// Issues it if it is still dirty and nobody holds it; waits for nobody.
  void write_behind(const BufferKey& key);
  /// One `part` of `parts` of the cache: marks what is dirty, issues what had been marked at the
  /// visit before (section 2 of the paper). A part is each `parts`th place: what is made dirty
  /// together lies together here, as it does not in page frames that a system has used for a while,
  /// and a part of neighbours would be the burst that the sweep is to avoid.
  void sweep(std::size_t part, std::size_t parts);
  void drop_clean();

  const BufferCacheCounters& counters() const;

 private:
  friend class HeldBuffer;
  friend class RoomReserve;
  struct State;
  std::unique_ptr<State> state_;
};

/// While it lives its fiber may use the cache's reserve, and never waits for room: it is the one
/// that makes it (an owner's writer, a cleaner). Beyond the size when the reserve is used up and
/// nothing is clean.
class RoomReserve {
 public:
  explicit RoomReserve(BufferCache& cache);
  ~RoomReserve();
  RoomReserve(const RoomReserve&) = delete;
  RoomReserve& operator=(const RoomReserve&) = delete;

 private:
  BufferCache& cache_;
  const Fiber* fiber_ = nullptr;
};

}  // namespace headcrash::os
