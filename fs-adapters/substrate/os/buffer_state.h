#pragma once
// Internals of the buffer cache: buffers, writes in flight, and the lists of them.
//
//   index   every findable buffer, by key
//   object  buffers of one object
//   clean   buffers that may be evicted: not held, not awaited, not dirty; least recently used
//           first; one list for metadata and one for data
//   dirty   dirty buffers, in the order in which they became dirty, and in order of last change
//   slots   storage of the buffers, which the syncer sweeps
//
// A buffer's lock is held by a fiber, or by the device while the buffer itself is being sent. The
// lock passes to waiters in FIFO order. A discarded buffer is in no list; it is destroyed once it
// has no holder, waiter or transfer.

#include <tsl/robin_map.h>

#include <limits>
#include <map>
#include <memory>
#include <vector>

#include "fs-adapters/substrate/os/buffer_cache.h"
#include "fs-adapters/substrate/os/linked_list.h"
#include "plugin/base/sanitizers.h"

namespace headcrash::os {

class Buffer {
 public:
  enum class Lock : std::uint8_t { free, fiber, device };

  explicit Buffer(Executor& executor) : waiters(executor) {}

  BufferKey key;
  Content content = Content::metadata;
  std::uint64_t lba = 0;
  std::vector<std::byte> bytes;
  /// The bytes of an earlier write of the block that has failed; empty if there is no such write.
  /// These bytes are newer than those on the disk. Used only while the buffer is being read.
  std::vector<std::byte> newer;
  Lock lock = Lock::free;
  WaitQueue waiters;
  std::uint32_t waiting = 0;
  /// Number of transfers that pin the buffer. A transfer pins the buffer if the buffer will be
  /// needed at completion, or if the transfer sends a copy that does not count as cache memory.
  std::uint32_t pins = 0;
  /// True if the buffer has the disk's bytes or newer ones; false until a read completes.
  bool known = false;
  bool fresh = false;  ///< created by get() and never written
  bool dirty = false;
  bool marked = false;  ///< true if the buffer was dirty when the sweep last visited it
  bool forgotten = false;
  RequestId last_write = 0;
  TimeNs dirtied_at = 0;
  std::uint64_t dirty_number = 0;  ///< position in the order in which buffers became dirty
  TimeNs modified_at = 0;
  /// Position in the order of last use, across both lists of clean buffers.
  std::uint64_t clean_number = 0;
  std::size_t slot = 0;
  Links<Buffer> in_object;
  Links<Buffer> in_clean;
  Links<Buffer> in_dirty;
  Links<Buffer> in_modified;
};

/// Keeps the memory of destroyed buffers for new buffers. If the cache is full, each new buffer
/// replaces an evicted one.
class SpareBytes {
 public:
  /// Returns a block of `bytes` bytes, whose content is either zeroes or stale.
  std::vector<std::byte> take(std::size_t bytes) {
    if (spare_.empty() || bytes != bytes_) return std::vector<std::byte>(bytes);
    std::vector<std::byte> taken = std::move(spare_.back());
    spare_.pop_back();
    return taken;
  }
  void give(std::vector<std::byte> bytes) {
    if (bytes.size() > bytes_) {
      spare_.clear();
      bytes_ = bytes.size();
    }
    if (bytes.size() == bytes_ && (spare_.size() + 1) * bytes_ <= kBytesMax)
      spare_.push_back(std::move(bytes));
  }

 private:
  // AddressSanitizer builds keep no memory, so that any use of a buffer's bytes after the buffer's
  // destruction is detected.
#ifdef HEADCRASH_ASAN
  static constexpr std::size_t kBytesMax = 0;
#else
  static constexpr std::size_t kBytesMax = 16 << 20;
#endif
  std::size_t bytes_ = 0;  ///< size of each kept block: the largest size requested so far
  std::vector<std::vector<std::byte>> spare_;
};

inline constexpr std::int64_t kFirstBlock = std::numeric_limits<std::int64_t>::min();
inline constexpr std::int64_t kLastBlock = std::numeric_limits<std::int64_t>::max();
inline constexpr std::uint64_t kLastObject = std::numeric_limits<std::uint64_t>::max();

struct BufferKeyHash {
  std::size_t operator()(const BufferKey& key) const {
    const std::uint64_t mixed =
        (key.object * 0x9e3779b97f4a7c15U) ^ static_cast<std::uint64_t>(key.block);
    const std::uint64_t hash = (mixed ^ (mixed >> 29)) * 0xbf58476d1ce4e5b9U;
    return hash ^ (hash >> 32);  // mixes in the upper half, because the map uses the low bits
  }
};

struct ObjectHash {
  std::size_t operator()(std::uint64_t object) const { return BufferKeyHash()({.object = object}); }
};

struct BufferCache::State {
  /// A request in flight.
  struct Transfer final : DiskDone {
    explicit Transfer(State& owner) : state(owner) {}
    void done(RequestId, model::Status status) override { state.arrived(*this, status); }

    State& state;
    BufferKey key;
    Content content = Content::metadata;
    std::uint64_t lba = 0;
    std::size_t bytes = 0;
    bool is_read = false;
    bool discarded = false;  ///< the request's owner no longer needs its result
    bool locks = false;      ///< the buffer is locked until completion
    bool pins = false;
    bool forced = false;
    /// The write gives the buffer a new home. If the write fails, the buffer loses this home.
    bool moves = false;
    Buffer* buffer = nullptr;  ///< set if the transfer locks or pins the buffer
    std::vector<std::byte> copy;
    std::size_t counted_bytes = 0;  ///< size of the private copy, if it counts as cache memory
    struct WriteWaiter* waiter = nullptr;
    RequestId id = 0;
    Links<Transfer> in_transfers;
  };
  /// A gathered write in flight. It completes its transfers one after another.
  struct Gathered final : DiskDone {
    explicit Gathered(State& owner) : state(owner) {}
    void done(RequestId id, model::Status status) override {
      state.gathered_arrived(*this, id, status);
    }

    struct Part {
      Transfer* transfer = nullptr;
      std::size_t offset = 0;  ///< offset in `bytes`
    };
    State& state;
    std::vector<std::byte> bytes;
    std::vector<Part> parts;
    DiskDone* listener = nullptr;
  };
  enum class Cause : std::uint8_t { asked, forced };
  static constexpr std::size_t kForcedAtOnce = 16;
  static constexpr std::size_t kPageBytes = 4096;
  static std::size_t pages_of(std::size_t bytes) { return (bytes + kPageBytes - 1) / kPageBytes; }

  State(Executor& fibers, Cpu& processor, DiskQueue& queue, const BufferCacheOptions& how)
      : executor(fibers), cpu(processor), disk(queue), options(how), room(fibers) {}
  ~State();

  // buffer_cache.cc
  Buffer* find(const BufferKey& key);
  Buffer& create(const BufferKey& key, Content content, std::uint64_t lba, std::size_t bytes);
  Buffer* find_and_lock(const BufferKey& key);
  bool lock(Buffer& buffer);
  void unlock(Buffer& buffer);
  void settle(Buffer& buffer);
  void forget(Buffer& buffer);
  void destroy(Buffer& buffer);
  void move_home(Buffer& buffer, Content content, std::uint64_t lba, std::size_t bytes);
  Buffer* held_or_room(const BufferKey& key, std::size_t bytes);
  Buffer* read_missing(const BufferKey& key, Content content, std::uint64_t lba, std::size_t bytes,
                       model::Status& status);
  void set_home(Buffer& buffer, std::uint64_t lba);
  bool has_reserve() const;
  void make_room(std::size_t bytes);
  bool try_room(std::size_t bytes);
  Buffer* to_be_dropped();
  bool force_some();
  bool ask_owner(std::size_t bytes);
  void take(std::size_t bytes);
  void wake_for_room() {
    ++room_made;
    room.wake_all();
  }

  // buffer_writes.cc
  void set_dirty(Buffer& buffer);
  Dirty describe(const Buffer& buffer) const;
  void set_clean(Buffer& buffer);
  bool locks_while_written(const Buffer& buffer) const {
    return buffer.content == Content::metadata || options.lock_data;
  }
  void wait_for_copies(std::size_t bytes);
  void wait_for_writes();
  bool travels_as_copy(const Buffer& buffer) const {
    return options.block_copy && locks_while_written(buffer);
  }
  void pay_for_write(const Buffer& buffer);
  RequestId issue(Buffer& buffer, const Ordering& ordering, Cause cause,
                  struct WriteWaiter* waiter);
  std::span<const std::byte> prepare(Transfer& transfer, Buffer& buffer,
                                     std::span<const std::byte> source);
  void arrived(Transfer& transfer, model::Status status);
  void read_arrived(Buffer& buffer, model::Status status);
  void write_arrived(Transfer& transfer, model::Status status);
  void keep_unwritten(Transfer& transfer);
  bool later_write_of(const Transfer& transfer) const;
  void set_dirty_again(Buffer& buffer);
  RequestId write_unheld(const BufferKey& key, Cause cause);
  bool issue_dirty(const std::vector<BufferKey>& keys);
  model::Status flush(const std::vector<BufferKey>& keys, const std::uint64_t* object);
  model::Status failure_of(const std::uint64_t* object) const;
  void discard_writes(const BufferKey& first, const BufferKey& last);

  RequestId being_written(const BufferKey& key) const;

  // buffer_gather.cc
  void pay_for_gathered(const std::vector<GatheredPart>& parts, std::size_t bytes);
  bool let_go(Gathered& gathered, std::vector<GatheredPart>& parts, std::uint64_t lba,
              Ordering& ordering, std::vector<RequestId>& after);
  void take_back(const std::vector<GatheredPart>& parts, std::size_t refused);
  void choose_copies(Gathered& gathered);
  void gathered_arrived(Gathered& gathered, RequestId id, model::Status status);

  Executor& executor;
  Cpu& cpu;
  DiskQueue& disk;
  BufferCacheOptions options;
  WriteHooks* hooks = nullptr;
  BufferCacheCounters counters;

  using ObjectList = LinkedList<Buffer, &Buffer::in_object>;
  using CleanList = LinkedList<Buffer, &Buffer::in_clean>;
  using DirtyList = LinkedList<Buffer, &Buffer::in_dirty>;
  using ModifiedList = LinkedList<Buffer, &Buffer::in_modified>;
  using TransferList = LinkedList<Transfer, &Transfer::in_transfers>;
  tsl::robin_map<BufferKey, Buffer*, BufferKeyHash> index;
  tsl::robin_map<std::uint64_t, ObjectList, ObjectHash> objects;
  CleanList clean_metadata, clean_data;
  CleanList& clean_list(const Buffer& buffer) {
    return buffer.content == Content::metadata ? clean_metadata : clean_data;
  }
  std::uint64_t clean_numbers = 0;
  DirtyList dirty;
  std::uint64_t dirty_numbers = 0;
  ModifiedList modified;  ///< the same buffers as in `dirty`, by modified_at
  TransferList transfers;
  /// Writes in flight, by block; those of one block are in issue order.
  std::multimap<BufferKey, Transfer*> writes;
  void set_out(Transfer& transfer);
  void take_in(Transfer& transfer);
  std::vector<std::unique_ptr<Gathered>> gathered_writes;
  std::vector<std::unique_ptr<Buffer>> slots;
  std::vector<std::size_t> free_slots;
  SpareBytes spare;
  std::size_t used_bytes = 0;      ///< buffers, counted copies and charges
  std::size_t metadata_bytes = 0;  ///< metadata buffers
  std::size_t copied_pages = 0;    ///< pages that the counted copies occupy
  std::size_t forced_in_flight = 0;
  std::size_t writes_in_flight = 0;
  BufferOwner* owner = nullptr;
  std::size_t unassigned_bytes = 0;  ///< total size of dirty buffers without a home
  std::size_t charged_bytes = 0;
  std::vector<const Fiber*> with_reserve;
  WaitQueue room;
  std::uint64_t room_made = 0;  ///< number of times that fibers were woken because room was made
  struct Failure {
    model::Status status = model::Status::ok;
    TimeNs at = 0;
  };
  std::map<BufferKey, Failure> failed_writes;  ///< blocks whose last write failed
};

}  // namespace headcrash::os
