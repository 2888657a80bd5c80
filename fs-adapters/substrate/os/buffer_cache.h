#pragma once
// The buffer cache: keeps blocks of a disk in a fixed amount of memory, and writes them back.
//
// A buffer is named by an object and a block (BufferKey), which the file system assigns. Its home
// is its address on the disk. The home may change: a growing fragment moves, and a log writes each
// block to a new place. The holder of a buffer owns its lock.
//
//   get/read -> held -> release         unchanged
//                    -> write_delayed   dirty; written by the syncer, or when memory is needed
//                    -> write_async     issued now, without waiting
//                    -> write           issued now; the caller waits
//
// A write sends the bytes that the buffer holds when it is issued. Without `block_copy` the buffer
// stays locked until the request completes, and a second updater waits (Ganger and Patt 1994,
// section 3.3). With `block_copy` (-CB), a private copy is sent, which takes memory in the cache.
// If there is no memory for a copy, the buffer itself is sent and stays locked. A block of zeroes
// needs no copy.
//
// Hooks see a buffer before it is sent and after the write completes. They may substitute other
// bytes (soft updates roll back updates that must not be visible yet) or veto the write (a journal
// holds back uncommitted blocks). If no clean buffer is left, get() writes the oldest dirty ones
// and waits. The cache exceeds its size only if all dirty buffers are unwritable at that time
// (held, or vetoed by a hook).
//
// Two writes to the same home reach the disk in the order of issue (disk_queue.h).
//
// A file system that writes each block to a new place (a log) uses buffers without a home. Their
// address is kUnassigned until they are written. The cache never writes such a buffer itself. When
// the cache needs memory or is flushed, it asks the BufferOwner, which writes many buffers in one
// request with write_gathered(). Buffers that have a home are written as usual, even in such a
// cache.
//
// Bounds: buffers, counted copies and charges share `bytes`; any excess is counted. Charges are
// limited by `charged_bytes_max`, copies by `copies_bytes`. A write in flight locks or pins its
// buffer, or has a counted copy. The exception is a block of zeroes with -CB, which costs nothing.
// At most `writes_max` writes are in flight; further ones wait. A block whose write failed stays in
// the cache, so the error state is bounded by the size of the cache.
//
// A buffer is clean once its write has been issued. If the write fails, the buffer becomes dirty
// again with its current bytes, and a later pass of the syncer or a flush writes it again. An error
// therefore loses nothing. A flush reports the state of the disk, not past events: it fails for
// every caller as long as the last write of some covered block has failed. After a successful
// retry, flushes succeed again. The cache does not retry such a write to free memory, so a bad disk
// does not block a caller that needs a buffer. Such blocks may exceed the size of the cache; the
// file system must stop before there are too many (failed_bytes()).

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "fs-adapters/substrate/os/disk_queue.h"

namespace headcrash::os {

/// The name of a buffer. Object 0 is the disk itself; its blocks are named by their addresses.
struct BufferKey {
  std::uint64_t object = 0;  ///< inode number
  /// Number of the block within the object; negative for the object's metadata.
  std::int64_t block = 0;
  bool operator==(const BufferKey&) const = default;
  bool operator<(const BufferKey& other) const {
    return object != other.object ? object < other.object : block < other.block;
  }
};

/// The home of a buffer that has no address on the disk yet.
inline constexpr std::uint64_t kUnassigned = ~std::uint64_t{0};

/// The kind of a buffer's content. By default, only buffers with metadata are locked while they are
/// written. Hooks also see writes of data, because a pointer may have to wait until the data to
/// which it refers is on the disk.
enum class Content : std::uint8_t { metadata, data };

class Buffer;  ///< buffer_state.h

/// A buffer whose lock is held. The destructor releases the buffer without marking it dirty.
class HeldBuffer {
 public:
  HeldBuffer() = default;
  HeldBuffer(HeldBuffer&& other) noexcept;
  HeldBuffer& operator=(HeldBuffer&& other) noexcept;
  ~HeldBuffer();

  explicit operator bool() const { return buffer_ != nullptr; }
  const BufferKey& key() const;
  std::uint64_t lba() const;  ///< the buffer's home, or kUnassigned
  Content content() const;
  std::span<std::byte> bytes() const;
  bool dirty() const;
  /// Same as BufferCache::being_written().
  RequestId being_written() const;

 private:
  friend class BufferCache;
  HeldBuffer(class BufferCache& cache, Buffer& buffer) : cache_(&cache), buffer_(&buffer) {}
  BufferCache* cache_ = nullptr;
  Buffer* buffer_ = nullptr;
};

/// A write that is about to be sent.
struct Outgoing {
  BufferKey key;
  std::uint64_t lba = 0;
  Content content = Content::metadata;
  std::span<std::byte> bytes;  ///< current bytes of the buffer
  /// The bytes to send: those of the buffer, unless a hook substitutes others. Substituted bytes
  /// are copied after the hook has returned, and must stay valid until then.
  std::span<const std::byte> source;
  Ordering ordering;      ///< a hook may add constraints
  std::uint8_t kind = 0;  ///< BlockRequest::kind; a hook may set it
};

/// Callbacks through which a file system observes and changes writes. They run between fiber steps
/// and must not wait.
class WriteHooks {
 public:
  virtual ~WriteHooks() = default;
  /// Called before each write. Returns false to veto the write, for example because a journal has
  /// not committed yet. The buffer then stays dirty.
  virtual bool before_write(Outgoing& write) = 0;
  /// Called once for each write that before_write() permitted, in issue order per home, even if the
  /// buffer has been discarded since. If a hook substituted the bytes, the buffer stays in the
  /// cache until this call returns. The hook must then request the buffer's next write with
  /// mark_dirty(), either now or later.
  virtual void after_write(const BufferKey& key, RequestId id, model::Status status) = 0;
  /// Called when a write has failed and the block is therefore not on the disk. By then,
  /// after_write() has reported the error, and the buffer is dirty again. Not called for discarded
  /// buffers.
  virtual void write_failed(const BufferKey& key, Content content) { (void)key, (void)content; }
};

/// Interface of a file system that uses buffers without a home. Only the file system can write
/// these buffers.
class BufferOwner {
 public:
  virtual ~BufferOwner() = default;
  /// Called when a fiber needs room for `bytes`, no buffer is clean, and some dirty buffers have no
  /// home. The call is made on that fiber, which may hold other buffers and locks of the file
  /// system. The owner must therefore neither wait for a lock nor call get(), read(), charge() or a
  /// flush function. It may issue gathered writes of buffers from try_hold(), wake one of its
  /// fibers that will do so, or release charged memory.
  ///
  /// Returns true if room has been or will be made: the caller then waits for a completion, an
  /// uncharge() or wake_room_waiters(), and calls this function again if there is still no room.
  /// Returns false if nothing can be written now: the caller then exceeds the size of the cache
  /// (over_bytes_most).
  virtual bool need_room(std::size_t bytes) = 0;
  /// Writes all dirty buffers without a home that belong to `*object`, or to any object if `object`
  /// is null. Returns once these buffers are on the disk, or returns an error. Called on the fiber
  /// that flushes; this fiber holds no buffer. May wait.
  virtual model::Status flush(const std::uint64_t* object) = 0;
};

/// One piece of a gathered write: a buffer that the calling fiber holds, or bytes that belong to
/// the owner (such as a segment's summary) and are copied during the call. The size of a piece is a
/// multiple of 512 bytes.
struct GatheredPart {
  HeldBuffer buffer = {};
  std::span<const std::byte> bytes = {};  ///< used if `buffer` is empty
};

struct BufferCacheOptions {
  std::uint64_t bytes = 36 << 20;  ///< limit on the total size of all buffers
  bool block_copy = false;         ///< -CB: writes use private copies
  /// With -CB, a limit on the total size of all copies, counted in pages of 4 KiB. A fiber whose
  /// copy would exceed the limit waits until other writes complete. If 0, there is no separate
  /// limit.
  std::uint64_t copies_bytes = 0;
  /// Part of `bytes` that is protected for metadata. Metadata within this part is evicted after all
  /// data; metadata in excess of it is evicted before any data. If 0, the least recently used
  /// buffer of either kind is evicted.
  std::uint64_t metadata_bytes = 0;
  bool lock_data = false;  ///< also lock data blocks while they are written
  /// Part of `bytes` that is available only to fibers with a RoomReserve. These fibers make room in
  /// the cache, and must not run out of memory themselves.
  std::uint64_t reserve_bytes = 0;
  /// Limit on the total of all charges. Charges also count toward `bytes`.
  std::uint64_t charged_bytes_max = ~std::uint64_t{0};
  /// If true, the in-core structures of file systems (tree/inode_store.h) are charged to the cache.
  /// If false, they are not counted as memory.
  bool structures_count = false;
  std::uint32_t gathered_bytes_max = 4 << 20;  ///< maximum size of one gathered write
  /// Limit on the number of writes in flight. Each buffer of a gathered write counts as one.
  std::size_t writes_max = 1 << 20;
};

struct BufferCacheCounters {
  std::uint64_t hits = 0, misses = 0;
  std::uint64_t sync_writes = 0, async_writes = 0, delayed_writes = 0;
  std::uint64_t forced_writes = 0;  ///< writes issued by a fiber that needed a buffer
  /// Number of times that a fiber waited for a buffer that was being written.
  std::uint64_t lock_waits = 0;
  std::uint64_t gathered_writes = 0, gathered_buffers = 0;
  std::uint64_t room_asked = 0;  ///< number of calls to BufferOwner::need_room()
  /// Maximum number of bytes by which the cache has exceeded its size.
  std::uint64_t over_bytes_most = 0;
};

class BufferCache {
 public:
  /// At destruction, no request may be in flight, unless the simulation will not run again. Call
  /// flush_all() first.
  BufferCache(Executor& executor, Cpu& cpu, DiskQueue& disk, const BufferCacheOptions& options);
  ~BufferCache();

  void hooks(WriteHooks* hooks);
  /// Sets the owner; null removes the owner. An owner must be removed before its destruction,
  /// unless the cache is destroyed first. An owner must not be removed while a dirty buffer has no
  /// home.
  void owner(BufferOwner* owner);

  // The following functions must be called from a fiber. Lengths are multiples of 512 bytes. get()
  // is for callers that overwrite the whole block. It returns the cached block, or a new buffer of
  // zeroes. A cached buffer with another home or length gets the new home and length; added bytes
  // are zero. A new buffer that is released without being written is discarded.
  HeldBuffer get(const BufferKey& key, Content content, std::uint64_t lba, std::size_t bytes);
  /// Returns the block from the cache or from the disk.
  tl::expected<HeldBuffer, model::Status> read(const BufferKey& key, Content content,
                                               std::uint64_t lba, std::size_t bytes);
  /// Like read() with `lba`, but for a block that a cleaner may move, or that may be moved after a
  /// failed write. If the block is not cached, calls `home` for its address once there is memory
  /// for the block. From then on, the block must not be moved until it has been read. `home` must
  /// not wait. If `home` cannot determine the address at once, it returns kUnassigned; read() then
  /// returns device_failed and reads nothing.
  tl::expected<HeldBuffer, model::Status> read(const BufferKey& key, Content content,
                                               const std::function<std::uint64_t()>& home,
                                               std::size_t bytes);
  /// Returns the block if it is cached, without reading it from the disk; otherwise, returns an
  /// empty handle.
  HeldBuffer cached(const BufferKey& key);
  /// Starts to read the block if there is room for it. Does not wait for the read.
  void read_ahead(const BufferKey& key, Content content, std::uint64_t lba, std::size_t bytes);

  void release(HeldBuffer buffer);
  void write_delayed(HeldBuffer buffer);
  /// Returns 0 if a hook vetoed the write; the buffer is then dirty.
  RequestId write_async(HeldBuffer buffer, const Ordering& ordering = {});
  /// Returns ok once the block is on the disk. Returns device_failed if the device failed, or if a
  /// hook vetoed the write and nothing was sent.
  model::Status write(HeldBuffer buffer, const Ordering& ordering = {});

  /// Gives the buffer a new home at `lba` and marks the buffer clean. Used by an owner that has
  /// taken the buffer's bytes and writes them to `lba` itself.
  void moved(HeldBuffer buffer, std::uint64_t lba);

  // Buffers without a home. get() with kUnassigned and write_unassigned() create them. While such a
  // buffer is dirty, the home passed to get() or read() is ignored. write() and write_async() do
  // not send it; sweeps and write_behind() skip it.

  /// Marks the buffer dirty. If the buffer has a home, removes the home.
  void write_unassigned(HeldBuffer buffer);
  /// Returns the block only if it is cached and neither held nor being read; otherwise, returns an
  /// empty handle. Never waits.
  HeldBuffer try_hold(const BufferKey& key);
  /// Writes the parts to consecutive sectors starting at `lba`, in one request. When the request is
  /// issued, the address of each part becomes the home of its buffer, and the buffer becomes clean.
  /// unwritten() is true for the buffer until the request completes.
  ///
  /// If the write fails, its buffers become dirty again, and buffers that had no home before lose
  /// the new home. If a buffer is written again while its first write is in flight, the second
  /// write follows the first, even to another address, and fails if the first one fails. Without
  /// -CB, metadata buffers stay locked until the request completes. With -CB, a copy is sent if
  /// there is room for it.
  ///
  /// Hooks see each buffer before anything is sent. If a hook vetoes a write, nothing is sent, all
  /// buffers stay dirty, and the result is 0. For the writes that the hooks had already permitted,
  /// after_write() reports an error.
  ///
  /// Waits for the processor, and for other writers' copies if `copies_bytes` is exhausted, but not
  /// for the disk. `done` may be null. It is called after the buffers have been updated, and must
  /// outlive the request.
  RequestId write_gathered(std::uint64_t lba, std::vector<GatheredPart> parts,
                           const Ordering& ordering = {}, DiskDone* done = nullptr);
  /// Returns the dirty buffers that have no home, in the order in which they became dirty. Does not
  /// wait.
  std::vector<BufferKey> unassigned() const;
  std::size_t unassigned_bytes() const;  ///< counts only dirty buffers
  /// Wakes the fibers that wait because need_room() has returned true. They then check for free
  /// memory again.
  void wake_room_waiters();

  // Memory of the file system (in-core inodes, maps, dependencies) that counts toward the size of
  // the cache and is limited by charged_bytes_max.

  /// Charges memory; waits for room as get() does. If the charge would exceed charged_bytes_max,
  /// returns false and charges nothing; the caller must then release memory first.
  bool charge(std::size_t bytes);
  /// Like charge(), but never waits: if there is no room, returns false. Used by event handlers.
  bool try_charge(std::size_t bytes);
  /// Releases charged memory. `bytes` must not exceed charged_bytes(). May be called from any
  /// context.
  void uncharge(std::size_t bytes);
  std::size_t charged_bytes() const;
  std::size_t used_bytes() const;  ///< total of buffers, counted copies and charged bytes

  // The following functions need no lock and do not wait.

  /// Returns the block's newest write in flight, even if the cache has already dropped the buffer.
  /// Returns 0 if no write is in flight.
  RequestId being_written(const BufferKey& key) const;
  /// Returns true if the block is dirty or being written.
  bool unwritten(const BufferKey& key) const;
  /// Returns true if a write of the block has failed and no later write has succeeded.
  bool write_failed(const BufferKey& key) const;
  std::size_t failed_bytes() const;  ///< total size of blocks whose last write failed
  std::uint64_t size_bytes() const;  ///< BufferCacheOptions::bytes
  bool structures_count() const;     ///< BufferCacheOptions::structures_count
  /// Marks the buffer dirty without taking its lock. Hooks use it to redo updates after a
  /// rolled-back write. Returns false if the block is not cached.
  bool mark_dirty(const BufferKey& key);
  /// Drops the buffer, even if it is dirty. A fiber that holds it keeps a private copy. Writes in
  /// flight still complete.
  void discard(const BufferKey& key);
  void discard_object(std::uint64_t object);
  void discard_all();

  /// Writes all dirty buffers of the object that exist at the time of the call, then waits for them
  /// and for writes already in flight. The owner flushes buffers without a home; without an owner,
  /// the result is device_failed. Returns an error if some block is not on the disk. Hooks may keep
  /// buffers dirty, so callers must check for dirty buffers again.
  model::Status flush_object(std::uint64_t object);
  model::Status flush_all();
  bool any_dirty() const;
  bool any_unwritten() const;  ///< true if any buffer is dirty or in flight
  /// A dirty buffer in the list for the syncer, with the time at which it became dirty and the time
  /// of its last change.
  struct Dirty {
    BufferKey key;
    TimeNs dirtied_at = 0, modified_at = 0;
    Content content = Content::metadata;
    /// The block's home. If the block has no home, kUnassigned; the owner then writes the block.
    std::uint64_t lba = 0;
    std::uint64_t bytes = 0;
    std::optional<TimeNs> failed_at = {};  ///< set if the block's last write has failed
  };
  std::vector<Dirty> dirty() const;
  /// Returns the dirty buffers whose last change was at `since` or later, in the order of their
  /// last changes. The cost is proportional to the size of the result.
  std::vector<Dirty> dirty_since(TimeNs since) const;
  std::size_t dirty_metadata_since(TimeNs since) const;
  /// Issues a write of the block if it is dirty and not held. Does not wait.
  void write_behind(const BufferKey& key);
  /// Visits part number `part` of `parts` parts of the cache. Marks each dirty buffer there, and
  /// issues those that were marked at the previous visit (Ganger and Patt 1994, section 2).
  ///
  /// A part consists of every `parts`-th slot. In a real system, buffers that become dirty together
  /// are in page frames all over the memory, but here they have adjacent slots. If a part consisted
  /// of adjacent slots, a sweep would write them in one burst. Sweeps should avoid such bursts.
  void sweep(std::size_t part, std::size_t parts);
  void drop_clean();

  const BufferCacheCounters& counters() const;

 private:
  friend class HeldBuffer;
  friend class RoomReserve;
  struct State;
  std::unique_ptr<State> state_;
};

/// While this object exists, the current fiber may use the cache's reserve. The reserve is for
/// fibers that make room: the owner's writer, or a cleaner. These fibers never wait for room. If
/// the reserve is used up and no buffer is clean, they make the cache exceed its size.
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
