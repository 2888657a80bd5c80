// Maps the client's memory and handles SIGBUS (guest_memory.h).
#include "plugin/servers/vhost/guest_memory.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <array>
#include <atomic>
#include <limits>
#include <mutex>

namespace headcrash::vhost {
namespace {

constexpr std::size_t kSlots = 256;

/// A mapping as the signal handler sees it. The handler may read only atomics. A slot is in use if
/// `length` is not 0.
struct Slot {
  std::atomic<void*> base = nullptr;
  std::atomic<std::size_t> length = 0;
  std::atomic<bool> damaged = false;
};
std::array<Slot, kSlots> slots;
std::mutex slots_mutex;
struct sigaction previous_action;

void on_bus_error(int signal, siginfo_t* info, void* context) {
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  for (Slot& slot : slots) {
    const std::size_t length = slot.length.load();
    void* const base = slot.base.load();
    const auto first = reinterpret_cast<std::uintptr_t>(base);
    if (length == 0 || address < first || address - first >= length) continue;
    // Another mapping may have taken over the slot between the two loads.
    if (slot.length.load() != length || slot.base.load() != base) continue;
    slot.damaged = true;
    void* replaced = ::mmap(base, length, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
    if (replaced != MAP_FAILED) return;
    break;
  }
  if ((previous_action.sa_flags & SA_SIGINFO) != 0)
    return previous_action.sa_sigaction(signal, info, context);
  ::signal(SIGBUS, SIG_DFL);  // when the access is repeated, the signal kills the process
}

void install_handler() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action = {};
    action.sa_sigaction = on_bus_error;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    ::sigaction(SIGBUS, &action, &previous_action);
  });
}

/// Reserves a slot. Returns kSlots if all slots are in use.
std::size_t take_slot(void* base, std::size_t length) {
  const std::lock_guard lock(slots_mutex);
  for (std::size_t i = 0; i < kSlots; ++i) {
    if (slots[i].length != 0) continue;
    slots[i].damaged = false;
    slots[i].base = base;
    slots[i].length = length;
    return i;
  }
  return kSlots;
}

bool overlap(std::uint64_t a, std::uint64_t a_bytes, std::uint64_t b, std::uint64_t b_bytes) {
  return a < b + b_bytes && b < a + a_bytes;
}

Result<void> check(std::span<const MemoryRegion> regions, std::size_t index, int file) {
  const MemoryRegion& region = regions[index];
  const std::string subject = fmt::format("memory region {}", index);
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
  if (region.bytes == 0) return fail(subject, "is empty");
  if (region.guest_address > kMax - region.bytes || region.user_address > kMax - region.bytes ||
      region.file_offset > kMax - region.bytes)
    return fail(subject, "exceeds the address space");
  // Ring indices are accessed as whole words at addresses that the client chooses, so regions must
  // be aligned.
  if (region.user_address % 16 != 0 || region.file_offset % 16 != 0)
    return fail(subject, "is not aligned");
  for (const MemoryRegion& earlier : regions.first(index))
    if (overlap(region.guest_address, region.bytes, earlier.guest_address, earlier.bytes) ||
        overlap(region.user_address, region.bytes, earlier.user_address, earlier.bytes))
      return fail(subject, "overlaps another region");
  struct stat status = {};
  if (::fstat(file, &status) != 0 || !S_ISREG(status.st_mode))
    return fail(subject, "is not backed by a regular file", "share the guest's memory as a memfd");
  if (region.file_offset + region.bytes > static_cast<std::uint64_t>(status.st_size))
    return fail(subject, "extends beyond the end of its file");
  return {};
}

}  // namespace

Result<std::shared_ptr<const GuestMemory>> GuestMemory::map(
    std::span<const MemoryRegion> regions, std::span<const base::Descriptor> files) {
  if (regions.size() > kRegionsMax)
    return fail("memory table", fmt::format("has {} regions, but at most {} are supported",
                                            regions.size(), kRegionsMax));
  if (regions.size() != files.size())
    return fail("memory table", fmt::format("has {} regions, but {} file descriptors",
                                            regions.size(), files.size()));
  install_handler();
  const std::shared_ptr<GuestMemory> memory(new GuestMemory());
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  for (std::size_t i = 0; i < regions.size(); ++i) {
    TRY(check(regions, i, files[i].get()));
    Mapping mapping{.region = regions[i]};
    const std::uint64_t before = regions[i].file_offset % page;
    mapping.length = before + regions[i].bytes;
    void* base = ::mmap(nullptr, mapping.length, PROT_READ | PROT_WRITE, MAP_SHARED, files[i].get(),
                        static_cast<off_t>(regions[i].file_offset - before));
    if (base == MAP_FAILED) return fail(fmt::format("memory region {}", i), "cannot be mapped");
    mapping.base = static_cast<std::byte*>(base);
    mapping.first = mapping.base + before;
    mapping.slot = take_slot(base, mapping.length);
    if (mapping.slot == kSlots) {
      ::munmap(base, mapping.length);
      return fail("memory table", "too many mappings in this process");
    }
    memory->mappings_.push_back(mapping);
  }
  return std::shared_ptr<const GuestMemory>(memory);
}

GuestMemory::~GuestMemory() {
  for (const Mapping& mapping : mappings_) {
    // The slot is cleared before the mapping is removed, because the handler must ignore later
    // mappings at these addresses.
    slots[mapping.slot].length = 0;
    ::munmap(mapping.base, mapping.length);
  }
}

std::byte* GuestMemory::at(std::uint64_t MemoryRegion::* begin, std::uint64_t address,
                           std::uint64_t bytes) const {
  for (const Mapping& m : mappings_) {
    if (address < m.region.*begin) continue;
    const std::uint64_t offset = address - m.region.*begin;
    if (offset <= m.region.bytes && bytes <= m.region.bytes - offset) return m.first + offset;
  }
  return nullptr;
}

std::byte* GuestMemory::at_guest(std::uint64_t address, std::uint64_t bytes) const {
  return at(&MemoryRegion::guest_address, address, bytes);
}

std::byte* GuestMemory::at_user(std::uint64_t address, std::uint64_t bytes) const {
  return at(&MemoryRegion::user_address, address, bytes);
}

Result<void> GuestMemory::intact() const {
  for (const Mapping& mapping : mappings_)
    if (slots[mapping.slot].damaged)
      return fail("memory", "a shared file was truncated while in use");
  return {};
}

}  // namespace headcrash::vhost
