// A medium in memory (memory_store.h). Whole pages that are zeroed go back to the kernel, which gives them
// out again as zeroes; the edges are cleared by hand.
#include "plugin/media/memory_store.h"

#include <fmt/core.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <limits>

#include "plugin/media/range.h"

namespace headcrash::media {

using model::kSectorBytes;

Result<std::unique_ptr<MemoryStore>> MemoryStore::create(std::uint64_t sectors) {
  const std::string subject = fmt::format("memory for {} sectors", sectors);
  if (sectors == 0) return fail(subject, "a medium needs at least one sector", "choose a larger size");
  if (sectors > std::numeric_limits<std::int64_t>::max() / kSectorBytes)
    return fail(subject, "is more than a process can address", "choose a smaller size");
  void* bytes = mmap(nullptr, sectors * kSectorBytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (bytes == MAP_FAILED)
    return fail(subject, "the host does not give so much address space",
                "choose a smaller size or keep the bytes in files with store=DIR");
  return std::unique_ptr<MemoryStore>(new MemoryStore(static_cast<std::byte*>(bytes), sectors));
}

MemoryStore::~MemoryStore() {
  munmap(bytes_, sectors_ * kSectorBytes);
}

Result<void> MemoryStore::read(std::uint64_t lba, std::span<std::byte> into) const {
  if (auto inside = check_range("memory", sectors_, lba, into.size()); !inside) return inside;
  std::memcpy(into.data(), bytes_ + lba * kSectorBytes, into.size());
  return {};
}

Result<void> MemoryStore::write(std::uint64_t lba, std::span<const std::byte> data) {
  if (auto inside = check_range("memory", sectors_, lba, data.size()); !inside) return inside;
  std::memcpy(bytes_ + lba * kSectorBytes, data.data(), data.size());
  return {};
}

Result<void> MemoryStore::write_zeroes(std::uint64_t lba, std::uint64_t count) {
  if (auto inside = check_range("memory", sectors_, lba, count * kSectorBytes); !inside) return inside;
  const std::uint64_t page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const std::uint64_t begin = lba * kSectorBytes;
  const std::uint64_t end = begin + count * kSectorBytes;
  const std::uint64_t first_page = (begin + page - 1) / page * page;
  const std::uint64_t last_page = end / page * page;
  if (first_page >= last_page || madvise(bytes_ + first_page, last_page - first_page, MADV_DONTNEED) != 0) {
    std::memset(bytes_ + begin, 0, end - begin);
    return {};
  }
  std::memset(bytes_ + begin, 0, first_page - begin);
  std::memset(bytes_ + last_page, 0, end - last_page);
  return {};
}

}  // namespace headcrash::media
