// Writing buffers (buffer_cache.h).
//
//   held buffer -> hook -> [private copy | the buffer itself, locked] -> queue -> hook -> unlock
//
//   Bytes sent:       without -CB              with -CB                     data (unless lock_data)
//   buffer's own      the buffer, locked       a counted copy               a copy, buffer pinned
//   from a hook       a copy, buffer locked    a counted copy, pinned       -
//
// File data is not locked while it is written. Instead, a copy is sent, so that the disk gets the
// bytes that the buffer has when the write is issued. The copy costs the host a little and the
// modelled machine nothing. The buffer stays pinned until completion, so that a fiber that streams
// through the cache waits for the disk.
#include <algorithm>
#include <iterator>
#include <utility>

#include "fs-adapters/substrate/os/buffer_state.h"
#include "plugin/base/invariant.h"
#include "plugin/base/zeroes.h"
#include "plugin/model/core/store.h"

namespace headcrash::os {

/// Receives the completion of a write for which the calling fiber waits.
struct WriteWaiter {
  explicit WriteWaiter(Executor& executor) : queue(executor) {}
  WaitQueue queue;
  bool complete = false;
  model::Status status = model::Status::ok;
};

namespace {

constexpr std::size_t kZeroBlockBytes = 64 << 10;

/// A shared block of zeroes; must not be modified.
std::span<const std::byte> zero_block() {
  static const std::vector<std::byte> zeroes(kZeroBlockBytes);
  return zeroes;
}

/// True if zero_block() can be sent in place of `bytes`.
bool needs_no_copy(std::span<const std::byte> bytes) {
  return bytes.size() <= kZeroBlockBytes && base::all_zero(bytes);
}

}  // namespace

void BufferCache::State::set_dirty(Buffer& buffer) {
  buffer.modified_at = executor.now();
  buffer.fresh = false;
  if (buffer.forgotten) return;
  modified.remove(buffer);
  modified.append(buffer);
  if (buffer.dirty) return;
  buffer.dirty = true;
  buffer.dirtied_at = executor.now();
  buffer.dirty_number = ++dirty_numbers;
  dirty.append(buffer);
  if (buffer.lba == kUnassigned) unassigned_bytes += buffer.bytes.size();
}

BufferCache::Dirty BufferCache::State::describe(const Buffer& buffer) const {
  Dirty described{buffer.key,     buffer.dirtied_at, buffer.modified_at,
                  buffer.content, buffer.lba,        buffer.bytes.size()};
  if (const auto failed = failed_writes.find(buffer.key); failed != failed_writes.end())
    described.failed_at = failed->second.at;
  return described;
}

void BufferCache::State::set_clean(Buffer& buffer) {
  if (!buffer.dirty) return;
  if (buffer.lba == kUnassigned) unassigned_bytes -= buffer.bytes.size();
  buffer.dirty = false;
  buffer.marked = false;
  dirty.remove(buffer);
  modified.remove(buffer);
}

/// Waits until a copy of `bytes` bytes fits within the limit on copies, or until there are no other
/// copies.
void BufferCache::State::wait_for_copies(std::size_t bytes) {
  if (options.copies_bytes == 0) return;
  const TimeNs before = executor.now();
  while (copied_pages > 0 && (copied_pages + pages_of(bytes)) * kPageBytes > options.copies_bytes)
    room.wait();
  executor.account().disk_wait_ns += executor.now() - before;
}

/// Waits until the number of writes in flight permits another one.
void BufferCache::State::wait_for_writes() {
  if (writes_in_flight < options.writes_max) return;
  const TimeNs before = executor.now();
  while (writes_in_flight >= options.writes_max) room.wait();
  executor.account().disk_wait_ns += executor.now() - before;
}

/// Waits until the cache's limits permit another write. Then charges the processor time for issuing
/// that write. The calling fiber must hold the buffer.
void BufferCache::State::pay_for_write(const Buffer& buffer) {
  wait_for_writes();
  const bool copied = travels_as_copy(buffer) && !needs_no_copy(buffer.bytes);
  if (copied) wait_for_copies(buffer.bytes.size());
  cpu.charge({{Cost::request_issued},
              {Cost::copy_per_kib, copied ? static_cast<std::int64_t>(buffer.bytes.size()) : 0}});
}

/// Returns the bytes that the device will read. Decides whether the buffer stays locked, is pinned,
/// or is released at once.
std::span<const std::byte> BufferCache::State::prepare(Transfer& transfer, Buffer& buffer,
                                                       std::span<const std::byte> source) {
  const bool undone = source.data() != buffer.bytes.data();
  const auto copied = [&] {
    transfer.copy.assign(source.begin(), source.end());
    return std::span<const std::byte>(transfer.copy);
  };
  if (!locks_while_written(buffer)) {
    transfer.pins = true;
    return copied();
  }
  if (options.block_copy) {
    transfer.pins = undone;
    if (needs_no_copy(source)) return zero_block().first(source.size());
    if (try_room(source.size())) {
      transfer.counted_bytes = source.size();
      take(source.size());
      copied_pages += pages_of(source.size());
      return copied();
    }
    transfer.pins = false;
  }
  transfer.locks = true;
  return undone ? copied() : source;
}

/// Issues a write. The calling fiber must hold the buffer; the call releases it.
RequestId BufferCache::State::issue(Buffer& buffer, const Ordering& ordering, Cause cause,
                                    WriteWaiter* waiter) {
  Outgoing out{buffer.key, buffer.lba, buffer.content, buffer.bytes, buffer.bytes, ordering};
  if (buffer.lba == kUnassigned || (hooks != nullptr && !hooks->before_write(out))) {
    set_dirty(buffer);
    unlock(buffer);
    return 0;
  }
  invariant(out.source.size() == buffer.bytes.size(), "a hook changed the length of a write");
  auto* transfer = new Transfer(*this);
  transfer->key = buffer.key;
  transfer->content = buffer.content;
  transfer->lba = buffer.lba;
  transfer->bytes = buffer.bytes.size();
  transfer->forced = cause == Cause::forced;
  transfer->waiter = waiter;
  BlockRequest request{model::Op::write, buffer.lba,
                       static_cast<std::uint32_t>(buffer.bytes.size() / model::kSectorBytes)};
  request.data = prepare(*transfer, buffer, out.source);
  request.kind = out.kind;
  if (transfer->locks || transfer->pins) transfer->buffer = &buffer;
  if (transfer->pins) ++buffer.pins;
  if (transfer->locks) buffer.lock = Buffer::Lock::device;
  if (transfer->forced) ++forced_in_flight;
  ++(cause == Cause::forced ? counters.forced_writes
     : waiter != nullptr    ? counters.sync_writes
                            : counters.async_writes);
  set_clean(buffer);
  buffer.fresh = false;
  set_out(*transfer);
  ++writes_in_flight;
  const RequestId id = disk.issue(request, out.ordering, *transfer);
  transfer->id = id;
  buffer.last_write = id;
  if (buffer.lock == Buffer::Lock::fiber) unlock(buffer);
  return id;
}

void BufferCache::State::set_out(Transfer& transfer) {
  transfers.append(transfer);
  if (!transfer.is_read) writes.emplace(transfer.key, &transfer);
}

void BufferCache::State::take_in(Transfer& transfer) {
  transfers.remove(transfer);
  const auto [first, last] = writes.equal_range(transfer.key);
  const auto known =
      std::find_if(first, last, [&](const auto& each) { return each.second == &transfer; });
  if (known != last) writes.erase(known);
}

void BufferCache::State::arrived(Transfer& transfer, model::Status status) {
  take_in(transfer);
  const std::unique_ptr<Transfer> ended(&transfer);
  used_bytes -= transfer.counted_bytes;
  copied_pages -= pages_of(transfer.counted_bytes);
  if (transfer.forced) --forced_in_flight;
  if (!transfer.is_read) --writes_in_flight;
  if (!transfer.is_read) write_arrived(transfer, status);
  if (Buffer* buffer = transfer.buffer) {
    if (transfer.is_read) read_arrived(*buffer, status);
    if (transfer.pins) --buffer->pins;
    if (transfer.locks)
      unlock(*buffer);
    else
      settle(*buffer);
  }
  wake_for_room();
  if (transfer.waiter != nullptr) {
    transfer.waiter->complete = true;
    transfer.waiter->status = status;
    transfer.waiter->queue.wake_all();
  }
}

/// Completes a read. If the read failed, discards the buffer; its holder and waiters see that
/// `known` is false.
void BufferCache::State::read_arrived(Buffer& buffer, model::Status status) {
  const std::vector<std::byte> newer = std::exchange(buffer.newer, {});
  buffer.known = status == model::Status::ok || newer.size() >= buffer.bytes.size();
  if (!buffer.known) {
    forget(buffer);
    return;
  }
  if (newer.empty()) return;
  std::copy_n(newer.begin(), std::min(newer.size(), buffer.bytes.size()), buffer.bytes.begin());
  set_dirty_again(buffer);
}

void BufferCache::State::write_arrived(Transfer& transfer, model::Status status) {
  const bool wanted =
      !transfer.discarded && (transfer.buffer == nullptr || !transfer.buffer->forgotten);
  const bool failed = status != model::Status::ok;
  if (wanted && failed) {
    failed_writes[transfer.key] = {status, executor.now()};
    keep_unwritten(transfer);
  } else if (wanted && !failed_writes.empty()) {
    failed_writes.erase(transfer.key);
  }
  if (hooks == nullptr) return;
  hooks->after_write(transfer.key, transfer.id, status);
  if (wanted && failed) hooks->write_failed(transfer.key, transfer.content);
}

/// True if a later write of the same block is in flight. The caller must have removed `transfer`
/// from the list of writes.
bool BufferCache::State::later_write_of(const Transfer& transfer) const {
  const auto [first, last] = writes.equal_range(transfer.key);
  return std::any_of(first, last, [&](const auto& each) {
    return !each.second->discarded && each.second->id > transfer.id;
  });
}

/// Makes the block of a failed write dirty again. If a copy was sent and the buffer has been
/// evicted in the meantime, creates a buffer from the copy. If a read of the block is already
/// queued behind the failed write, that read would return stale bytes, so the newer bytes are kept
/// for the buffer.
void BufferCache::State::keep_unwritten(Transfer& transfer) {
  Buffer* buffer = transfer.buffer != nullptr ? transfer.buffer : find(transfer.key);
  // This write would have given the buffer a new home. Because it failed, the buffer has no home,
  // and the owner must select another address.
  if (buffer != nullptr && transfer.moves && buffer->lba == transfer.lba)
    set_home(*buffer, kUnassigned);
  if (buffer != nullptr && buffer->known) {
    // If get() has just created the buffer, its holder will overwrite it completely, so the buffer
    // is not made dirty here.
    if (!buffer->fresh) set_dirty_again(*buffer);
    return;
  }
  // A later write has newer bytes. If that write also fails, keep_unwritten() is called for it.
  if (later_write_of(transfer)) return;
  std::vector<std::byte> sent = std::move(transfer.copy);
  sent.resize(transfer.bytes);  // zeroes are sent without a copy
  if (buffer != nullptr) {
    buffer->newer = std::move(sent);
    return;
  }
  Buffer& revived = create(transfer.key, transfer.content,
                           transfer.moves ? kUnassigned : transfer.lba, transfer.bytes);
  revived.bytes = std::move(sent);
  revived.known = true;
  revived.lock = Buffer::Lock::free;
  set_dirty_again(revived);
}

/// Marks the buffer dirty without changing the time of its last change.
void BufferCache::State::set_dirty_again(Buffer& buffer) {
  const TimeNs modified_at = buffer.modified_at;
  set_dirty(buffer);
  buffer.modified_at = modified_at;
  if (!buffer.forgotten) {
    modified.remove(buffer);
    Buffer* older = modified.last();
    while (older != nullptr && older->modified_at > modified_at)
      older = ModifiedList::before(*older);
    modified.insert_after(older, buffer);
  }
  settle(buffer);
}

/// Marks the blocks' in-flight writes as discarded, so that failures of these writes are ignored.
void BufferCache::State::discard_writes(const BufferKey& first, const BufferKey& last) {
  failed_writes.erase(failed_writes.lower_bound(first), failed_writes.upper_bound(last));
  // Without copies, marking is unnecessary: each write in flight still has its buffer. If that
  // buffer has been discarded, a failure of the write is ignored.
  if (!options.block_copy) return;
  for (auto at = writes.lower_bound(first); at != writes.end() && !(last < at->first); ++at)
    at->second->discarded = true;
}

/// Issues a write of the block. Returns 0 if the block is not dirty, if it is held, or if a hook
/// vetoed the write.
RequestId BufferCache::State::write_unheld(const BufferKey& key, Cause cause) {
  Buffer* buffer = find(key);
  if (buffer == nullptr || !buffer->dirty || buffer->lock != Buffer::Lock::free) return 0;
  if (buffer->lba == kUnassigned) return 0;
  lock(*buffer);
  pay_for_write(*buffer);
  // The buffer may have been discarded during the wait. In that case, nothing may be written,
  // because the buffer's address may already belong to another block.
  if (!buffer->dirty) {
    unlock(*buffer);
    return 0;
  }
  return issue(*buffer, {}, cause, nullptr);
}

void BufferCache::write_delayed(HeldBuffer buffer) {
  State& s = *state_;
  Buffer& written = *std::exchange(buffer.buffer_, nullptr);
  ++s.counters.delayed_writes;
  s.set_dirty(written);
  s.unlock(written);
}

void BufferCache::moved(HeldBuffer buffer, std::uint64_t lba) {
  Buffer& taken = *std::exchange(buffer.buffer_, nullptr);
  taken.lba = lba;
  taken.fresh = false;
  state_->set_clean(taken);
  state_->unlock(taken);
}

RequestId BufferCache::write_async(HeldBuffer buffer, const Ordering& ordering) {
  Buffer& written = *std::exchange(buffer.buffer_, nullptr);
  state_->pay_for_write(written);
  return state_->issue(written, ordering, State::Cause::asked, nullptr);
}

model::Status BufferCache::write(HeldBuffer buffer, const Ordering& ordering) {
  State& s = *state_;
  Buffer& written = *std::exchange(buffer.buffer_, nullptr);
  s.pay_for_write(written);
  WriteWaiter waiter(s.executor);
  if (s.issue(written, ordering, State::Cause::asked, &waiter) == 0)
    return model::Status::device_failed;
  const TimeNs before = s.executor.now();
  while (!waiter.complete) waiter.queue.wait();
  s.executor.account().disk_wait_ns += s.executor.now() - before;
  return waiter.status;
}

RequestId BufferCache::State::being_written(const BufferKey& key) const {
  const auto it = index.find(key);
  if (it != index.end() && it->second->last_write != 0)
    return disk.pending(it->second->last_write) ? it->second->last_write : 0;
  // The buffer may have been evicted and created again while a copy was in flight. The new buffer
  // has no record of that write, so the list of writes is searched.
  const auto behind = writes.upper_bound(key);
  if (behind == writes.begin() || std::prev(behind)->first != key) return 0;
  return std::prev(behind)->second->id;
}

RequestId BufferCache::being_written(const BufferKey& key) const {
  return state_->being_written(key);
}

bool BufferCache::unwritten(const BufferKey& key) const {
  const Buffer* buffer = state_->find(key);
  return (buffer != nullptr && buffer->dirty) || being_written(key) != 0;
}

bool BufferCache::write_failed(const BufferKey& key) const {
  return state_->failed_writes.contains(key);
}

std::size_t BufferCache::failed_bytes() const {
  std::size_t bytes = 0;
  for (const auto& [key, failure] : state_->failed_writes)
    if (const Buffer* buffer = state_->find(key)) bytes += buffer->bytes.size();
  return bytes;
}

std::uint64_t BufferCache::size_bytes() const {
  return state_->options.bytes;
}

bool BufferCache::mark_dirty(const BufferKey& key) {
  Buffer* buffer = state_->find(key);
  if (buffer == nullptr) return false;
  state_->set_dirty(*buffer);
  state_->settle(*buffer);
  return true;
}

void BufferCache::write_behind(const BufferKey& key) {
  state_->write_unheld(key, State::Cause::asked);
}

void BufferCache::sweep(std::size_t part, std::size_t parts) {
  State& s = *state_;
  // Other fibers may run while the processor time for this write is charged, so each slot is
  // examined again before it is written.
  for (std::size_t slot = part; slot < s.slots.size(); slot += parts) {
    Buffer* buffer = s.slots[slot].get();
    if (buffer == nullptr || !buffer->dirty) continue;
    if (buffer->marked)
      s.write_unheld(buffer->key, State::Cause::asked);
    else
      buffer->marked = true;
  }
}

/// Returns the error of a block whose last write failed: a block of `*object`, or any block if
/// `object` is null. Returns ok if no write has failed.
model::Status BufferCache::State::failure_of(const std::uint64_t* object) const {
  const auto first = object == nullptr
                         ? failed_writes.begin()
                         : failed_writes.lower_bound({.object = *object, .block = kFirstBlock});
  const bool any =
      first != failed_writes.end() && (object == nullptr || first->first.object == *object);
  return any ? first->second.status : model::Status::ok;
}

/// Issues writes of those buffers that are dirty and have a home. Returns true if there are dirty
/// buffers without a home.
bool BufferCache::State::issue_dirty(const std::vector<BufferKey>& keys) {
  const auto is_unassigned = [](const Buffer& buffer) {
    return buffer.dirty && buffer.lba == kUnassigned;
  };
  bool unassigned = false;
  for (const BufferKey& key : keys) {
    Buffer* buffer = find(key);
    if (buffer != nullptr && is_unassigned(*buffer)) {
      unassigned = true;
      continue;
    }
    buffer = find_and_lock(key);
    if (buffer == nullptr) continue;
    const bool sends = buffer->dirty && !is_unassigned(*buffer);
    unassigned = unassigned || is_unassigned(*buffer);
    if (sends) pay_for_write(*buffer);
    if (sends && buffer->dirty)
      issue(*buffer, {}, Cause::asked, nullptr);
    else
      unlock(*buffer);
  }
  return unassigned;
}

model::Status BufferCache::State::flush(const std::vector<BufferKey>& keys,
                                        const std::uint64_t* object) {
  model::Status owners = model::Status::ok;
  if (issue_dirty(keys))
    owners = owner == nullptr ? model::Status::device_failed : owner->flush(object);
  std::vector<RequestId> on_their_way;
  for (const Transfer* t = transfers.first(); t != nullptr; t = TransferList::after(*t))
    if (!t->is_read && (object == nullptr || t->key.object == *object))
      on_their_way.push_back(t->id);
  for (const RequestId id : on_their_way) disk.wait_for(id);
  return owners == model::Status::ok ? failure_of(object) : owners;
}

model::Status BufferCache::flush_object(std::uint64_t object) {
  State& s = *state_;
  std::vector<BufferKey> keys;
  if (const auto it = s.objects.find(object); it != s.objects.end())
    for (const Buffer* b = it->second.first(); b != nullptr; b = State::ObjectList::after(*b))
      if (b->dirty) keys.push_back(b->key);
  std::sort(keys.begin(), keys.end());
  return s.flush(keys, &object);
}

model::Status BufferCache::flush_all() {
  State& s = *state_;
  std::vector<BufferKey> keys;
  for (const Buffer* b = s.dirty.first(); b != nullptr; b = State::DirtyList::after(*b))
    keys.push_back(b->key);
  return s.flush(keys, nullptr);
}

}  // namespace headcrash::os
