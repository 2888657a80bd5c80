// Buffers without a home, gathered writes, and memory charged to the cache (buffer_cache.h).
//
//   held buffers and owner's bytes -> hooks -> [all bytes] -> one request -> a transfer per buffer
//
// The host always copies the bytes of a gathered write, because a driver's request has a single
// span of bytes. The costs in the modelled machine are those of buffer_writes.cc: either the
// buffers stay locked or, with -CB, a copy takes memory and processor time. Each buffer has its own
// transfer with the id of the request, so callers that wait for a block's write need not know
// whether the write was gathered.
#include <algorithm>
#include <cstring>
#include <utility>

#include "fs-adapters/substrate/os/buffer_state.h"
#include "plugin/base/invariant.h"
#include "plugin/model/core/store.h"

namespace headcrash::os {

void BufferCache::owner(BufferOwner* owner) {
  invariant(owner != nullptr || state_->unassigned_bytes == 0,
            "the cache's owner was removed while buffers without a disk address were dirty");
  state_->owner = owner;
}

void BufferCache::write_unassigned(HeldBuffer buffer) {
  State& s = *state_;
  s.set_home(*buffer.buffer_, kUnassigned);
  write_delayed(std::move(buffer));
}

HeldBuffer BufferCache::try_hold(const BufferKey& key) {
  Buffer* buffer = state_->find(key);
  if (buffer == nullptr || buffer->lock != Buffer::Lock::free || !buffer->known) return {};
  state_->lock(*buffer);
  return {*this, *buffer};
}

std::vector<BufferKey> BufferCache::unassigned() const {
  std::vector<BufferKey> keys;
  for (const Buffer* b = state_->dirty.first(); b != nullptr; b = State::DirtyList::after(*b))
    if (b->lba == kUnassigned) keys.push_back(b->key);
  return keys;
}

std::size_t BufferCache::unassigned_bytes() const {
  return state_->unassigned_bytes;
}

void BufferCache::wake_room_waiters() {
  state_->wake_for_room();
}

void BufferCache::State::pay_for_gathered(const std::vector<GatheredPart>& parts,
                                          std::size_t bytes) {
  std::size_t copied = 0;
  for (const GatheredPart& part : parts)
    if (part.buffer && travels_as_copy(*part.buffer.buffer_)) copied += part.buffer.bytes().size();
  invariant(bytes <= options.gathered_bytes_max, "a gathered write exceeds gathered_bytes_max");
  wait_for_writes();
  if (copied > 0) wait_for_copies(copied);
  cpu.charge({{Cost::request_issued}, {Cost::copy_per_kib, static_cast<std::int64_t>(copied)}});
}

/// Asks the hooks about each buffer and copies the bytes to be sent. Returns false if a hook vetoed
/// a write; nothing may be sent in that case.
bool BufferCache::State::let_go(Gathered& gathered, std::vector<GatheredPart>& parts,
                                std::uint64_t lba, Ordering& ordering,
                                std::vector<RequestId>& after) {
  std::size_t offset = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!parts[i].buffer) {
      std::memcpy(gathered.bytes.data() + offset, parts[i].bytes.data(), parts[i].bytes.size());
      offset += parts[i].bytes.size();
      continue;
    }
    Buffer& buffer = *parts[i].buffer.buffer_;
    const std::uint64_t home = lba + offset / model::kSectorBytes;
    Outgoing out{buffer.key, home, buffer.content, buffer.bytes, buffer.bytes, {}};
    if (hooks != nullptr && !hooks->before_write(out)) {
      take_back(parts, i);
      return false;
    }
    invariant(out.source.size() == buffer.bytes.size(), "a hook changed the length of a write");
    std::memcpy(gathered.bytes.data() + offset, out.source.data(), out.source.size());
    ordering.flagged = ordering.flagged || out.ordering.flagged;
    ordering.barrier = ordering.barrier || out.ordering.barrier;
    after.insert(after.end(), out.ordering.after.begin(), out.ordering.after.end());
    if (buffer.last_write != 0 || options.block_copy)
      if (const RequestId before = being_written(buffer.key); before != 0) after.push_back(before);

    auto* transfer = new Transfer(*this);
    transfer->key = buffer.key;
    transfer->content = buffer.content;
    transfer->lba = home;
    transfer->bytes = buffer.bytes.size();
    transfer->moves = buffer.lba != home;
    transfer->buffer = &buffer;
    transfer->pins = out.source.data() != buffer.bytes.data();
    gathered.parts.push_back({transfer, offset});
    offset += buffer.bytes.size();
  }
  return true;
}

/// Undoes the preparation of a gathered write after the hooks have vetoed part number `refused`.
/// Reports an error to the hooks for each earlier part, because the hooks had permitted the write
/// of that part. Marks new buffers dirty.
void BufferCache::State::take_back(const std::vector<GatheredPart>& parts, std::size_t refused) {
  for (std::size_t i = 0; i < refused; ++i)
    if (parts[i].buffer) hooks->after_write(parts[i].buffer.key(), 0, model::Status::device_failed);
  for (const GatheredPart& part : parts)
    if (part.buffer && part.buffer.buffer_->fresh) set_dirty(*part.buffer.buffer_);
}

/// Decides for each buffer whether the buffer stays locked, is pinned, or is sent as a copy. Such a
/// copy counts as cache memory.
void BufferCache::State::choose_copies(Gathered& gathered) {
  std::size_t bytes = 0;
  for (const Gathered::Part& part : gathered.parts)
    if (travels_as_copy(*part.transfer->buffer)) bytes += part.transfer->bytes;
  const bool copies = bytes > 0 && try_room(bytes);
  for (const Gathered::Part& part : gathered.parts) {
    Transfer& transfer = *part.transfer;
    Buffer& buffer = *transfer.buffer;
    if (!locks_while_written(buffer)) {
      transfer.pins = true;
    } else if (copies) {
      transfer.counted_bytes = transfer.bytes;
      take(transfer.bytes);
      copied_pages += pages_of(transfer.bytes);
    } else {
      transfer.pins = false;
      transfer.locks = true;
      buffer.lock = Buffer::Lock::device;
    }
    if (transfer.pins) ++buffer.pins;
  }
}

RequestId BufferCache::write_gathered(std::uint64_t lba, std::vector<GatheredPart> parts,
                                      const Ordering& ordering, DiskDone* done) {
  State& s = *state_;
  std::size_t bytes = 0;
  for (const GatheredPart& part : parts) {
    const std::size_t length = part.buffer ? part.buffer.bytes().size() : part.bytes.size();
    invariant(length > 0 && length % model::kSectorBytes == 0,
              "a part of a gathered write is not a whole number of sectors");
    bytes += length;
  }
  invariant(bytes > 0 && lba != kUnassigned, "a gathered write has no parts or no address");
  s.pay_for_gathered(parts, bytes);

  auto gathered = std::make_unique<State::Gathered>(s);
  gathered->bytes.resize(bytes);
  gathered->listener = done;
  std::vector<RequestId> after(ordering.after.begin(), ordering.after.end());
  Ordering all = ordering;
  const bool sends = s.let_go(*gathered, parts, lba, all, after);
  for (const State::Gathered::Part& part : gathered->parts) {
    if (sends)
      s.set_out(*part.transfer);
    else
      delete part.transfer;
  }
  if (!sends) return 0;

  s.choose_copies(*gathered);
  all.after = after;
  BlockRequest request{model::Op::write, lba,
                       static_cast<std::uint32_t>(bytes / model::kSectorBytes)};
  request.data = gathered->bytes;
  s.writes_in_flight += gathered->parts.size();
  const RequestId id = s.disk.issue(request, all, *gathered);
  ++s.counters.gathered_writes;
  for (const State::Gathered::Part& part : gathered->parts) {
    State::Transfer& transfer = *part.transfer;
    Buffer& buffer = *transfer.buffer;
    ++s.counters.gathered_buffers;
    transfer.id = id;
    buffer.last_write = id;
    buffer.fresh = false;
    s.set_clean(buffer);
    buffer.lba = transfer.lba;
    // A copy is sent, so the buffer may be evicted.
    if (!transfer.locks && !transfer.pins) transfer.buffer = nullptr;
  }
  s.gathered_writes.push_back(std::move(gathered));
  for (GatheredPart& part : parts) {
    if (!part.buffer) continue;
    Buffer& buffer = *std::exchange(part.buffer.buffer_, nullptr);
    if (buffer.lock == Buffer::Lock::fiber) s.unlock(buffer);
  }
  return id;
}

void BufferCache::State::gathered_arrived(Gathered& gathered, RequestId id, model::Status status) {
  const auto it = std::find_if(gathered_writes.begin(), gathered_writes.end(),
                               [&](const auto& one) { return one.get() == &gathered; });
  const std::unique_ptr<Gathered> ended = std::move(*it);
  gathered_writes.erase(it);
  for (const Gathered::Part& part : ended->parts) {
    if (status != model::Status::ok) {
      const auto from = ended->bytes.begin() + static_cast<std::ptrdiff_t>(part.offset);
      part.transfer->copy.assign(from, from + static_cast<std::ptrdiff_t>(part.transfer->bytes));
    }
    arrived(*part.transfer, status);
  }
  if (ended->listener != nullptr) ended->listener->done(id, status);
}

bool BufferCache::try_charge(std::size_t bytes) {
  State& s = *state_;
  if (bytes > s.options.charged_bytes_max || s.charged_bytes > s.options.charged_bytes_max - bytes)
    return false;
  if (!s.try_room(bytes)) return false;
  s.take(bytes);
  s.charged_bytes += bytes;
  return true;
}

bool BufferCache::charge(std::size_t bytes) {
  State& s = *state_;
  const auto fits = [&] {
    return bytes <= s.options.charged_bytes_max &&
           s.charged_bytes <= s.options.charged_bytes_max - bytes;
  };
  if (!fits()) return false;
  s.make_room(bytes);
  if (!fits()) return false;  // other fibers may have charged memory during the wait
  s.take(bytes);
  s.charged_bytes += bytes;
  return true;
}

void BufferCache::uncharge(std::size_t bytes) {
  State& s = *state_;
  invariant(bytes <= s.charged_bytes, "uncharge() released more memory than was charged");
  s.charged_bytes -= bytes;
  s.used_bytes -= bytes;
  s.wake_for_room();
}

bool BufferCache::structures_count() const {
  return state_->options.structures_count;
}

std::size_t BufferCache::charged_bytes() const {
  return state_->charged_bytes;
}

std::size_t BufferCache::used_bytes() const {
  return state_->used_bytes;
}

RoomReserve::RoomReserve(BufferCache& cache)
    : cache_(cache), fiber_(cache.state_->executor.current()) {
  invariant(fiber_ != nullptr, "a RoomReserve was created outside of a fiber");
  cache_.state_->with_reserve.push_back(fiber_);
}

RoomReserve::~RoomReserve() {
  auto& fibers = cache_.state_->with_reserve;
  fibers.erase(std::find(fibers.begin(), fibers.end(), fiber_));
}

}  // namespace headcrash::os
