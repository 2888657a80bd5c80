#pragma once
// The buffer cache: blocks of a disk in memory of a fixed size, and the three ways to write one.
//
// A buffer is named by its object and block (BufferKey), which are the file system's business, and has a home
// on the disk, which may change: a fragment that grows moves, a log writes each block somewhere else. Who has
// a buffer holds its lock.
//
//   get/read -> held -> release                      nothing has changed
//                    -> write_delayed                dirty; the syncer writes it, or who needs the room
//                    -> write_async                  issued now; nobody waits
//                    -> write                        issued now; the caller waits
//
// What is sent to the disk is what the buffer holds when it is issued. Without `block_copy` the buffer stays
// locked until the request is complete, and a second updater waits (Ganger and Patt 1994, section 3.3); with
// it (-CB) a private copy travels, which takes its room in the cache; where there is none left the buffer
// travels itself, locked. A block of zeroes needs no copy. Hooks see a buffer before it is sent, may send
// other bytes instead (soft updates undo what must not be seen yet, a journal keeps back what is not
// committed), and hear of its completion. When no clean buffer is left the caller of get() pays: it writes
// the oldest dirty ones and waits. Only what nobody can write now (held, kept back by a hook) may exceed the
// size.
//
// Two writes of the same home reach the disk in the order they were issued (disk_queue.h).
//
// A buffer is clean from the moment its write is issued. If the write fails it is dirty again, with what it
// holds by then, and is written again by the next sweep or flush: nothing is lost to an error, and a flush is
// a statement about the disk, not about events. It returns an error as long as a block that it covers has not
// been written since its last write failed, to everybody who asks, however often; a retry that succeeds ends
// that. A block that failed is not written to make room, so that a bad disk does not keep who needs a buffer:
// such blocks may exceed the cache's size, and the file system has to stop before they are too many
// (failed_bytes()).

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "fs-adapters/os/disk_queue.h"

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

/// What a buffer holds: only metadata is held back by write locks. Hooks see both: pointers to data wait for
/// it.
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
  std::uint64_t lba() const;  ///< its home
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
  std::span<std::byte> bytes;         ///< the buffer's own
  std::span<const std::byte> source;  ///< what is sent: the buffer's bytes unless a hook says otherwise; it
                                      ///< must stay valid until the call returns, a copy is made
  Ordering ordering;                  ///< a hook may add to it
};

/// The file system's eyes on what is written. Called between fibers' steps: neither may wait.
class WriteHooks {
 public:
  virtual ~WriteHooks() = default;
  /// False: not now; the buffer stays dirty (a journal that has not committed yet).
  virtual bool before_write(Outgoing& write) = 0;
  /// Once for each write that before_write let go, those of one home in its order; also for buffers that
  /// were discarded meanwhile. What was sent in place of the buffer's bytes is not
  /// what it holds: such a buffer is in the cache until this returns, and the hooks ask for its next write
  /// (mark_dirty), here or later.
  virtual void after_write(const BufferKey& key, RequestId id, model::Status status) = 0;
  /// The block is not on the disk: after after_write() with an error, when its buffer is dirty again. Not for
  /// what was discarded meanwhile.
  virtual void write_failed(const BufferKey& key, Content content) { (void)key, (void)content; }
};

struct BufferCacheOptions {
  std::uint64_t bytes = 36 << 20;  ///< all buffers together
  bool block_copy = false;         ///< -CB
  /// -CB: room that copies may take together, each in pages of 4 KiB; who would make one more waits until
  /// others have arrived. 0: as much as there is.
  std::uint64_t copies_bytes = 0;
  bool lock_data = false;  ///< data blocks, too, are locked while they are written
};

struct BufferCacheCounters {
  std::uint64_t hits = 0, misses = 0;
  std::uint64_t sync_writes = 0, async_writes = 0, delayed_writes = 0;
  std::uint64_t forced_writes = 0;  ///< by who needed a buffer
  std::uint64_t lock_waits = 0;     ///< for a buffer that was being written
};

class BufferCache {
 public:
  /// Nothing may be on its way when it goes, unless the simulation never runs again: flush_all() first.
  BufferCache(Executor& executor, Cpu& cpu, DiskQueue& disk, const BufferCacheOptions& options);
  ~BufferCache();

  void hooks(WriteHooks* hooks);

  // From within a fiber. A length is a multiple of 512 bytes.
  /// What is in the cache, or zeroes: for who overwrites it all. A buffer that is there with another home or
  /// length gets the new one; what it gains is zero. A new buffer that is released unwritten is forgotten.
  HeldBuffer get(const BufferKey& key, Content content, std::uint64_t lba, std::size_t bytes);
  /// What is in the cache, or on the disk.
  tl::expected<HeldBuffer, model::Status> read(const BufferKey& key, Content content, std::uint64_t lba,
                                               std::size_t bytes);
  /// Only what is in the cache already.
  HeldBuffer cached(const BufferKey& key);
  /// Reads it soon, if there is room; nobody waits.
  void read_ahead(const BufferKey& key, Content content, std::uint64_t lba, std::size_t bytes);

  void release(HeldBuffer buffer);
  void write_delayed(HeldBuffer buffer);
  /// 0: a hook said not now, and the buffer is dirty.
  RequestId write_async(HeldBuffer buffer, const Ordering& ordering = {});
  /// ok: it is on the disk. device_failed: the disk said so, or a hook said not now and nothing was sent.
  model::Status write(HeldBuffer buffer, const Ordering& ordering = {});

  // Without its lock, and without waiting.
  /// The last write of the block that has not arrived, be it a copy of what the cache has dropped since; 0:
  /// none.
  RequestId being_written(const BufferKey& key) const;
  /// Dirty, or being written.
  bool unwritten(const BufferKey& key) const;
  /// A write of it failed, and none has succeeded since.
  bool write_failed(const BufferKey& key) const;
  std::size_t failed_bytes() const;  ///< of all such blocks
  std::uint64_t size_bytes() const;  ///< as the options say
  /// Without its lock; hooks use it: redone after it was sent undone. False: it is not in the cache.
  bool mark_dirty(const BufferKey& key);
  /// Forgets it, dirty or not; who holds it keeps it for himself. What is on its way arrives.
  void discard(const BufferKey& key);
  void discard_object(std::uint64_t object);
  void discard_all();

  /// Issues what is dirty, waits for it and for what was on its way. An error: some of it is not on the disk
  /// (see above). Hooks may keep it dirty: the caller looks again. It knows what was there when it began.
  model::Status flush_object(std::uint64_t object);
  model::Status flush_all();
  bool any_dirty() const;
  bool any_unwritten() const;  ///< dirty, or on its way: of what others have issued, too
  /// For the syncer: keys of dirty buffers, oldest first, with when they became dirty and when they were
  /// changed last.
  struct Dirty {
    BufferKey key;
    TimeNs dirtied_at = 0, modified_at = 0;
    Content content = Content::metadata;
    std::uint64_t bytes = 0;
  };
  std::vector<Dirty> dirty() const;
  /// Issues it if it is still dirty and nobody holds it; waits for nobody.
  void write_behind(const BufferKey& key);
  /// One `part` of `parts` of the cache: marks what is dirty, issues what had been marked at the visit before
  /// (section 2 of the paper). A part is each `parts`th place: what is made dirty together lies together
  /// here, as it does not in page frames that a system has used for a while, and a part of neighbours would
  /// be the burst that the sweep is to avoid.
  void sweep(std::size_t part, std::size_t parts);
  void drop_clean();

  const BufferCacheCounters& counters() const;

 private:
  friend class HeldBuffer;
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace headcrash::os
