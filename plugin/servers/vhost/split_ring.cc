#include "plugin/servers/vhost/split_ring.h"

#include <fmt/format.h>

#include <atomic>
#include <bit>
#include <cstring>

namespace headcrash::vhost {
namespace {

static_assert(std::endian::native == std::endian::little,
              "the host must be little-endian, as is virtio 1");

constexpr std::uint16_t kNext = 1, kWrite = 2, kIndirect = 4;
constexpr std::uint16_t kNoInterrupt = 1, kNoKick = 1;
constexpr std::size_t kDescriptorBytes = 16, kUsedBytes = 8;
constexpr std::size_t kFlagsAndIndexBytes = 4;

std::uint16_t load(std::byte* at, std::memory_order order) {
  return std::atomic_ref<std::uint16_t>(*reinterpret_cast<std::uint16_t*>(at)).load(order);
}
void store(std::byte* at, std::uint16_t value, std::memory_order order) {
  std::atomic_ref<std::uint16_t>(*reinterpret_cast<std::uint16_t*>(at)).store(value, order);
}

}  // namespace

bool SplitRing::is_size(std::uint64_t size) {
  return size >= 1 && size <= kRingSizeMax && std::has_single_bit(size);
}

Result<void> SplitRing::place(const RingPlace& place) {
  if (place.descriptors % 16 != 0 || place.available % 2 != 0 || place.used % 4 != 0)
    return fail("ring", "the parts of the ring are not aligned");
  place_ = place;
  return {};
}

Result<void> SplitRing::append(const GuestMemory& memory, const Descriptor& descriptor,
                               Chain& chain) const {
  if (chain.readable.size() + chain.writable.size() >= place_.size)
    return fail("ring", "a chain of descriptors loops or is longer than the queue");
  if (memory.at_guest(descriptor.address, descriptor.bytes) == nullptr)
    return fail("ring",
                fmt::format("a descriptor of {} bytes at {:#x} is outside the shared memory",
                            descriptor.bytes, descriptor.address));
  if ((descriptor.flags & kWrite) != 0) {
    chain.writable.push_back({descriptor.address, descriptor.bytes});
    return {};
  }
  if (!chain.writable.empty())
    return fail("ring", "a readable descriptor follows a writable descriptor");
  chain.readable.push_back({descriptor.address, descriptor.bytes});
  return {};
}

Result<void> SplitRing::follow(const GuestMemory& memory, const Descriptor& descriptor,
                               Chain& chain) const {
  if (!indirect_) return fail("ring", "an indirect table was used, but was not negotiated");
  if ((descriptor.flags & kNext) != 0)
    return fail("ring", "a descriptor follows an indirect table");
  if (descriptor.bytes == 0 || descriptor.bytes % kDescriptorBytes != 0 ||
      descriptor.bytes / kDescriptorBytes > kRingSizeMax)
    return fail("ring",
                fmt::format("an indirect table has an invalid size: {} bytes", descriptor.bytes));
  const std::byte* table = memory.at_guest(descriptor.address, descriptor.bytes);
  if (table == nullptr) return fail("ring", "an indirect table is outside the shared memory");
  return walk(memory, table, descriptor.bytes / kDescriptorBytes, 0, chain, true);
}

Result<void> SplitRing::walk(const GuestMemory& memory, const std::byte* table,
                             std::uint32_t entries, std::uint32_t first, Chain& chain,
                             bool inside_indirect) const {
  std::uint32_t index = first;
  while (true) {
    if (index >= entries) return fail("ring", fmt::format("there is no descriptor {}", index));
    Descriptor descriptor = {};
    static_assert(sizeof descriptor == kDescriptorBytes);
    std::memcpy(&descriptor, table + std::size_t{index} * kDescriptorBytes, sizeof descriptor);
    if ((descriptor.flags & kIndirect) != 0) {
      if (inside_indirect) return fail("ring", "an indirect table contains another indirect table");
      return follow(memory, descriptor, chain);
    }
    TRY(append(memory, descriptor, chain));
    if ((descriptor.flags & kNext) == 0) return {};
    index = descriptor.next;
  }
}

Result<void> SplitRing::want_kicks(const GuestMemory& memory, bool wanted) const {
  std::byte* used = memory.at_user(place_.used, kFlagsAndIndexBytes + kUsedBytes * place_.size);
  if (used == nullptr) return fail("ring", "the ring is outside the shared memory");
  store(used, wanted ? 0 : kNoKick, std::memory_order_relaxed);
  // The flag must be visible before the driver's index is read, because the driver first writes its
  // index and then reads the flag.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return memory.intact();
}

Result<std::optional<Chain>> SplitRing::take(const GuestMemory& memory) {
  const std::byte* table = memory.at_user(place_.descriptors, kDescriptorBytes * place_.size);
  std::byte* available = memory.at_user(place_.available, kFlagsAndIndexBytes + 2 * place_.size);
  if (table == nullptr || available == nullptr)
    return fail("ring", "the ring is outside the shared memory");
  const std::uint16_t index = load(available + 2, std::memory_order_acquire);
  const auto waiting = static_cast<std::uint16_t>(index - next_available_);
  // If the client has truncated the file, `index` is a zero that the driver did not write.
  TRY(memory.intact());
  if (waiting == 0) return std::nullopt;
  if (waiting > place_.size)
    return fail("ring",
                fmt::format("{} chains are pending in a ring of size {}", waiting, place_.size));
  if (in_flight_ >= place_.size)
    return fail("ring", fmt::format("more than {} chains are in flight", place_.size));
  Chain chain;
  chain.head = load(available + kFlagsAndIndexBytes + 2 * (next_available_ % place_.size),
                    std::memory_order_relaxed);
  const auto walked = walk(memory, table, place_.size, chain.head, chain, false);
  TRY(memory.intact());
  TRY(walked);
  ++next_available_;
  ++in_flight_;
  return chain;
}

Result<bool> SplitRing::give_back(const GuestMemory& memory, std::uint16_t head,
                                  std::uint32_t written) {
  std::byte* used = memory.at_user(place_.used, kFlagsAndIndexBytes + kUsedBytes * place_.size);
  std::byte* available = memory.at_user(place_.available, kFlagsAndIndexBytes + 2 * place_.size);
  if (used == nullptr || available == nullptr)
    return fail("ring", "the ring is outside the shared memory");
  const std::uint32_t element[2] = {head, written};
  std::memcpy(used + kFlagsAndIndexBytes + kUsedBytes * (next_used_ % place_.size), element,
              sizeof element);
  store(used + 2, ++next_used_, std::memory_order_release);
  --in_flight_;
  // The driver's flag must be read after the index is visible, because the driver first sets the
  // flag and then reads the index.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  const bool tell = (load(available, std::memory_order_relaxed) & kNoInterrupt) == 0;
  TRY(memory.intact());
  return tell;
}

}  // namespace headcrash::vhost
