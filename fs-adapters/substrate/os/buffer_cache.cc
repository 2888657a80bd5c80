// Finds, holds and evicts buffers (buffer_cache.h). Writing is in buffer_writes.cc.
#include "fs-adapters/substrate/os/buffer_cache.h"

#include <algorithm>
#include <utility>

#include "fs-adapters/substrate/os/buffer_state.h"
#include "plugin/base/invariant.h"

namespace headcrash::os {

HeldBuffer::HeldBuffer(HeldBuffer&& other) noexcept
    : cache_(other.cache_), buffer_(std::exchange(other.buffer_, nullptr)) {}

HeldBuffer& HeldBuffer::operator=(HeldBuffer&& other) noexcept {
  std::swap(cache_, other.cache_);
  std::swap(buffer_, other.buffer_);
  return *this;
}

HeldBuffer::~HeldBuffer() {
  if (buffer_ != nullptr) cache_->state_->unlock(*buffer_);
}

const BufferKey& HeldBuffer::key() const {
  return buffer_->key;
}

std::uint64_t HeldBuffer::lba() const {
  return buffer_->lba;
}

Content HeldBuffer::content() const {
  return buffer_->content;
}

std::span<std::byte> HeldBuffer::bytes() const {
  return buffer_->bytes;
}

bool HeldBuffer::dirty() const {
  return buffer_->dirty;
}

RequestId HeldBuffer::being_written() const {
  return cache_->being_written(buffer_->key);
}

BufferCache::State::~State() {
  while (Transfer* transfer = transfers.first()) {
    transfers.remove(*transfer);
    delete transfer;
  }
}

Buffer* BufferCache::State::find(const BufferKey& key) {
  const auto it = index.find(key);
  return it == index.end() ? nullptr : it->second;
}

/// Returns a new buffer, locked by the calling fiber. Its content is undefined.
Buffer& BufferCache::State::create(const BufferKey& key, Content content, std::uint64_t lba,
                                   std::size_t bytes) {
  std::size_t slot = slots.size();
  if (free_slots.empty()) {
    slots.emplace_back();
  } else {
    slot = free_slots.back();
    free_slots.pop_back();
  }
  slots[slot] = std::make_unique<Buffer>(executor);
  Buffer& buffer = *slots[slot];
  buffer.slot = slot;
  buffer.key = key;
  buffer.content = content;
  buffer.lba = lba;
  buffer.bytes = spare.take(bytes);
  buffer.lock = Buffer::Lock::fiber;
  take(bytes);
  if (content == Content::metadata) metadata_bytes += bytes;
  index.emplace(key, &buffer);
  objects[key.object].append(buffer);
  return buffer;
}

void BufferCache::State::destroy(Buffer& buffer) {
  used_bytes -= buffer.bytes.size();
  if (buffer.content == Content::metadata) metadata_bytes -= buffer.bytes.size();
  const std::size_t slot = buffer.slot;
  spare.give(std::move(buffer.bytes));
  slots[slot].reset();
  free_slots.push_back(slot);
}

/// Removes the buffer from all lists and from the index, so that it can no longer be found.
void BufferCache::State::forget(Buffer& buffer) {
  if (buffer.forgotten) return;
  set_clean(buffer);
  index.erase(buffer.key);
  const auto object = objects.find(buffer.key.object);
  object.value().remove(buffer);
  if (object->second.empty()) objects.erase(object);
  clean_list(buffer).remove(buffer);
  buffer.forgotten = true;
}

/// Must be called after any change to the buffer's state. Adds the buffer to the clean list,
/// removes it from that list, or destroys it. Afterwards the reference may be dangling.
void BufferCache::State::settle(Buffer& buffer) {
  const bool unused = buffer.lock == Buffer::Lock::free && buffer.waiting == 0 && buffer.pins == 0;
  if (buffer.forgotten) {
    if (unused) destroy(buffer);
    if (unused) wake_for_room();
    return;
  }
  const bool droppable = unused && !buffer.dirty;
  if (droppable == CleanList::contains(buffer)) return;
  if (droppable) {
    buffer.clean_number = ++clean_numbers;
    clean_list(buffer).append(buffer);
    wake_for_room();
  } else {
    clean_list(buffer).remove(buffer);
  }
}

/// Locks the buffer. Returns false if the buffer was discarded while the calling fiber waited.
bool BufferCache::State::lock(Buffer& buffer) {
  if (buffer.lock == Buffer::Lock::free) {
    buffer.lock = Buffer::Lock::fiber;
    settle(buffer);
    return true;
  }
  const bool for_the_disk = buffer.lock == Buffer::Lock::device || !buffer.known;
  if (buffer.lock == Buffer::Lock::device && buffer.known) ++counters.lock_waits;
  const TimeNs before = executor.now();
  ++buffer.waiting;
  buffer.waiters.wait();  // unlock() gives the lock to this fiber
  --buffer.waiting;
  if (for_the_disk) executor.account().disk_wait_ns += executor.now() - before;
  if (!buffer.forgotten) return true;
  unlock(buffer);
  return false;
}

void BufferCache::State::unlock(Buffer& buffer) {
  if (buffer.fresh && !buffer.dirty && buffer.lock == Buffer::Lock::fiber) forget(buffer);
  if (!buffer.waiters.empty()) {
    buffer.lock = Buffer::Lock::fiber;
    buffer.waiters.wake_one();
    return;
  }
  buffer.lock = Buffer::Lock::free;
  settle(buffer);
}

Buffer* BufferCache::State::find_and_lock(const BufferKey& key) {
  while (Buffer* buffer = find(key))
    if (lock(*buffer)) return buffer;
  return nullptr;
}

void BufferCache::State::set_home(Buffer& buffer, std::uint64_t lba) {
  if (buffer.dirty && buffer.lba == kUnassigned) unassigned_bytes -= buffer.bytes.size();
  buffer.lba = lba;
  if (buffer.dirty && buffer.lba == kUnassigned) unassigned_bytes += buffer.bytes.size();
}

void BufferCache::State::move_home(Buffer& buffer, Content content, std::uint64_t lba,
                                   std::size_t bytes) {
  if (bytes > buffer.bytes.size()) make_room(bytes - buffer.bytes.size());
  const bool stays_unassigned = buffer.dirty && buffer.lba == kUnassigned;
  if (stays_unassigned) unassigned_bytes -= buffer.bytes.size();
  used_bytes -= buffer.bytes.size();
  if (buffer.content == Content::metadata) metadata_bytes -= buffer.bytes.size();
  take(bytes);
  buffer.bytes.resize(bytes);
  if (content == Content::metadata) metadata_bytes += bytes;
  if (stays_unassigned)
    unassigned_bytes += bytes;
  else
    set_home(buffer, lba);
  buffer.content = content;
}

void BufferCache::State::take(std::size_t bytes) {
  used_bytes += bytes;
  if (used_bytes > options.bytes)
    counters.over_bytes_most = std::max(counters.over_bytes_most, used_bytes - options.bytes);
}

bool BufferCache::State::has_reserve() const {
  return !with_reserve.empty() && std::find(with_reserve.begin(), with_reserve.end(),
                                            executor.current()) != with_reserve.end();
}

/// Returns the clean buffer to evict next; null if no buffer is clean.
Buffer* BufferCache::State::to_be_dropped() {
  Buffer* const metadata = clean_metadata.first();
  Buffer* const data = clean_data.first();
  if (metadata == nullptr || data == nullptr) return metadata == nullptr ? data : metadata;
  if (options.metadata_bytes > 0) return metadata_bytes > options.metadata_bytes ? metadata : data;
  return metadata->clean_number < data->clean_number ? metadata : data;
}

/// Evicts clean buffers until there is room for `bytes`. Returns false if evicting all of them is
/// not enough. Does not wait.
bool BufferCache::State::try_room(std::size_t bytes) {
  const std::size_t kept = options.reserve_bytes == 0 || has_reserve() ? 0 : options.reserve_bytes;
  while (used_bytes + bytes + kept > options.bytes) {
    Buffer* const dropped = to_be_dropped();
    if (dropped == nullptr) return false;
    forget(*dropped);
    destroy(*dropped);
  }
  return true;
}

/// Frees memory. If no clean buffer is left, the calling fiber writes dirty ones and waits for
/// them. Does not wait if nothing can be written and nothing is in flight.
void BufferCache::State::make_room(std::size_t bytes) {
  while (!executor.halted() && !try_room(bytes)) {
    const std::uint64_t made_before = room_made;
    bool owner_makes_room = false;
    if (has_reserve()) {
      if (transfers.empty()) return;
    } else {
      owner_makes_room = forced_in_flight == 0 && ask_owner(bytes);
      const bool comes =
          forced_in_flight > 0 || owner_makes_room || force_some() || !transfers.empty();
      if (try_room(bytes) || !comes) return;
    }
    if (room_made != made_before || (transfers.empty() && !owner_makes_room)) continue;
    const TimeNs before = executor.now();
    room.wait();
    executor.account().disk_wait_ns += executor.now() - before;
  }
}

bool BufferCache::State::ask_owner(std::size_t bytes) {
  if (owner == nullptr || (unassigned_bytes == 0 && charged_bytes == 0)) return false;
  ++counters.room_asked;
  return owner->need_room(bytes);
}

bool BufferCache::State::force_some() {
  std::vector<BufferKey> keys;
  for (const Buffer* b = dirty.first(); b != nullptr; b = DirtyList::after(*b))
    if (b->lock == Buffer::Lock::free && !failed_writes.contains(b->key) && b->lba != kUnassigned)
      keys.push_back(b->key);
  std::size_t forced = 0;
  for (const BufferKey& key : keys) {
    if (write_unheld(key, Cause::forced) == 0) continue;
    if (++forced == kForcedAtOnce) break;
  }
  return forced > 0;
}

BufferCache::BufferCache(Executor& executor, Cpu& cpu, DiskQueue& disk,
                         const BufferCacheOptions& options)
    : state_(std::make_unique<State>(executor, cpu, disk, options)) {}

BufferCache::~BufferCache() = default;

void BufferCache::hooks(WriteHooks* hooks) {
  state_->hooks = hooks;
}

HeldBuffer BufferCache::get(const BufferKey& key, Content content, std::uint64_t lba,
                            std::size_t bytes) {
  State& s = *state_;
  s.cpu.charge(Cost::buffer_found);
  for (;;) {
    if (Buffer* buffer = s.find_and_lock(key)) {
      ++s.counters.hits;
      s.move_home(*buffer, content, lba, bytes);
      return {*this, *buffer};
    }
    s.make_room(bytes);
    if (s.find(key) != nullptr) continue;  // another fiber has created the buffer in the meantime
    ++s.counters.misses;
    Buffer& made = s.create(key, content, lba, bytes);
    std::ranges::fill(made.bytes, std::byte{0});
    made.known = true;
    made.fresh = true;
    return {*this, made};
  }
}

/// Returns the cached buffer, held. If the block is not cached, makes room for `bytes` bytes and
/// returns null.
Buffer* BufferCache::State::held_or_room(const BufferKey& key, std::size_t bytes) {
  cpu.charge(Cost::buffer_found);
  for (;;) {
    if (Buffer* buffer = find_and_lock(key)) {
      ++counters.hits;
      return buffer;
    }
    make_room(bytes);
    // Another fiber may have created the buffer during the wait. If so, tries again to get it.
    if (find(key) == nullptr) return nullptr;
  }
}

/// Reads a block that is not cached. The caller must have made room for it. Returns null if the
/// read fails.
Buffer* BufferCache::State::read_missing(const BufferKey& key, Content content, std::uint64_t lba,
                                         std::size_t bytes, model::Status& status) {
  ++counters.misses;
  Buffer& buffer = create(key, content, lba, bytes);
  BlockRequest request{model::Op::read, lba,
                       static_cast<std::uint32_t>(bytes / model::kSectorBytes)};
  request.into = buffer.bytes;
  status = disk.transfer(request);
  read_arrived(buffer, status);
  if (buffer.known) return &buffer;
  unlock(buffer);
  return nullptr;
}

tl::expected<HeldBuffer, model::Status> BufferCache::read(const BufferKey& key, Content content,
                                                          std::uint64_t lba, std::size_t bytes) {
  State& s = *state_;
  if (Buffer* buffer = s.held_or_room(key, bytes)) {
    s.move_home(*buffer, content, lba, bytes);
    return HeldBuffer(*this, *buffer);
  }
  invariant(lba != kUnassigned, "a block without a disk address cannot be read");
  model::Status status = model::Status::ok;
  if (Buffer* buffer = s.read_missing(key, content, lba, bytes, status))
    return HeldBuffer(*this, *buffer);
  return tl::unexpected(status);
}

tl::expected<HeldBuffer, model::Status> BufferCache::read(
    const BufferKey& key, Content content, const std::function<std::uint64_t()>& home,
    std::size_t bytes) {
  State& s = *state_;
  if (Buffer* buffer = s.held_or_room(key, bytes)) {
    s.move_home(*buffer, content, buffer->lba, bytes);
    return HeldBuffer(*this, *buffer);
  }
  const std::uint64_t lba = home();
  if (lba == kUnassigned) return tl::unexpected(model::Status::device_failed);
  model::Status status = model::Status::ok;
  if (Buffer* buffer = s.read_missing(key, content, lba, bytes, status))
    return HeldBuffer(*this, *buffer);
  return tl::unexpected(status);
}

HeldBuffer BufferCache::cached(const BufferKey& key) {
  State& s = *state_;
  s.cpu.charge(Cost::buffer_found);
  Buffer* buffer = s.find_and_lock(key);
  if (buffer == nullptr) return {};
  ++s.counters.hits;
  return {*this, *buffer};
}

void BufferCache::read_ahead(const BufferKey& key, Content content, std::uint64_t lba,
                             std::size_t bytes) {
  State& s = *state_;
  if (s.find(key) != nullptr) return;
  s.cpu.charge(Cost::request_issued);
  if (s.find(key) != nullptr || !s.try_room(bytes)) return;
  Buffer& buffer = s.create(key, content, lba, bytes);
  buffer.lock = Buffer::Lock::device;
  auto* transfer = new State::Transfer(s);
  transfer->key = key;
  transfer->is_read = true;
  transfer->locks = true;
  transfer->buffer = &buffer;
  s.set_out(*transfer);
  BlockRequest request{model::Op::read, lba,
                       static_cast<std::uint32_t>(bytes / model::kSectorBytes)};
  request.into = buffer.bytes;
  transfer->id = s.disk.issue(request, {}, *transfer);
}

void BufferCache::release(HeldBuffer buffer) {
  const HeldBuffer held = std::move(buffer);
}

void BufferCache::discard(const BufferKey& key) {
  state_->discard_writes(key, key);
  Buffer* buffer = state_->find(key);
  if (buffer == nullptr) return;
  state_->forget(*buffer);
  state_->settle(*buffer);
}

void BufferCache::discard_object(std::uint64_t object) {
  State& s = *state_;
  s.discard_writes({.object = object, .block = kFirstBlock},
                   {.object = object, .block = kLastBlock});
  for (auto it = s.objects.find(object); it != s.objects.end(); it = s.objects.find(object)) {
    Buffer& buffer = *it->second.first();
    s.forget(buffer);
    s.settle(buffer);
  }
}

void BufferCache::discard_all() {
  State& s = *state_;
  s.discard_writes({.object = 0, .block = kFirstBlock},
                   {.object = kLastObject, .block = kLastBlock});
  while (!s.objects.empty()) {
    Buffer& buffer = *s.objects.begin()->second.first();
    s.forget(buffer);
    s.settle(buffer);
  }
}

void BufferCache::drop_clean() {
  State& s = *state_;
  while (Buffer* const first = s.to_be_dropped()) {
    Buffer& buffer = *first;
    s.forget(buffer);
    s.destroy(buffer);
  }
}

bool BufferCache::any_dirty() const {
  return !state_->dirty.empty();
}

bool BufferCache::any_unwritten() const {
  if (any_dirty()) return true;
  for (const State::Transfer* t = state_->transfers.first(); t != nullptr;
       t = State::TransferList::after(*t))
    if (!t->is_read) return true;
  return false;
}

std::size_t BufferCache::dirty_metadata_since(TimeNs since) const {
  std::size_t blocks = 0;
  for (const Buffer* b = state_->modified.last(); b != nullptr && b->modified_at >= since;
       b = State::ModifiedList::before(*b))
    if (b->content == Content::metadata) ++blocks;
  return blocks;
}

std::vector<BufferCache::Dirty> BufferCache::dirty() const {
  std::vector<Dirty> all;
  for (const Buffer* b = state_->dirty.first(); b != nullptr; b = State::DirtyList::after(*b))
    all.push_back(state_->describe(*b));
  return all;
}

std::vector<BufferCache::Dirty> BufferCache::dirty_since(TimeNs since) const {
  std::vector<const Buffer*> changed;
  for (const Buffer* b = state_->modified.last(); b != nullptr && b->modified_at >= since;
       b = State::ModifiedList::before(*b))
    changed.push_back(b);
  std::ranges::sort(changed, {}, &Buffer::dirty_number);
  std::vector<Dirty> all;
  all.reserve(changed.size());
  for (const Buffer* b : changed) all.push_back(state_->describe(*b));
  return all;
}

const BufferCacheCounters& BufferCache::counters() const {
  return state_->counters;
}

}  // namespace headcrash::os
