// An in-memory medium (memory_store.h). One bit per page records whether the page is nonzero. If
// the bit is clear, the mapping may hold stale bytes, which are never read. Zeroes therefore need
// no reads, writes or page faults.
#include "plugin/media/memory_store.h"

#include <fmt/core.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "plugin/base/zeroes.h"
#include "plugin/media/range.h"

namespace headcrash::media {

using model::kSectorBytes;

namespace {

constexpr std::size_t kPageBytes = 4096;  ///< no kernel has smaller pages
/// Runs of zeroes of at least this size are returned to the kernel in one call.
constexpr std::size_t kGivenBackBytes = 1 << 18;
constexpr std::size_t kWordBits = 64;

/// Returns how many of the `count` bytes that begin at `at` are in the same page as the first one.
std::size_t in_page(std::uint64_t at, std::size_t count) {
  return std::min<std::size_t>(count, kPageBytes - at % kPageBytes);
}

void* map(std::uint64_t bytes) {
  return mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
              -1, 0);
}

}  // namespace

Result<std::unique_ptr<MemoryStore>> MemoryStore::create(std::uint64_t sectors) {
  const std::string subject = fmt::format("memory for {} sectors", sectors);
  if (sectors == 0)
    return fail(subject, "a medium needs at least one sector", "choose a larger size");
  if (sectors > std::numeric_limits<std::int64_t>::max() / kSectorBytes)
    return fail(subject, "exceeds the address space of a process", "choose a smaller size");
  const std::uint64_t bytes = sectors * kSectorBytes, pages = (bytes + kPageBytes - 1) / kPageBytes;
  void* const medium = map(bytes);
  void* const written =
      medium == MAP_FAILED ? MAP_FAILED : map((pages / kWordBits + 1) * sizeof(std::uint64_t));
  if (written == MAP_FAILED) {
    if (medium != MAP_FAILED) munmap(medium, bytes);
    return fail(subject, "the host does not provide enough address space",
                "choose a smaller size or keep the bytes in files with store=DIR");
  }
  return std::unique_ptr<MemoryStore>(new MemoryStore(
      static_cast<std::byte*>(medium), static_cast<std::uint64_t*>(written), sectors));
}

MemoryStore::MemoryStore(std::byte* bytes, std::uint64_t* written, std::uint64_t sectors)
    : bytes_(bytes),
      written_(written),
      sectors_(sectors),
      pages_((sectors * kSectorBytes + kPageBytes - 1) / kPageBytes) {}

MemoryStore::~MemoryStore() {
  munmap(bytes_, sectors_ * kSectorBytes);
  munmap(written_, (pages_ / kWordBits + 1) * sizeof(std::uint64_t));
}

bool MemoryStore::written(std::uint64_t page) const {
  return (written_[page / kWordBits] >> page % kWordBits & 1) != 0;
}

void MemoryStore::mark(std::uint64_t page, bool written) {
  const std::uint64_t bit = std::uint64_t{1} << page % kWordBits;
  std::uint64_t& word = written_[page / kWordBits];
  word = written ? word | bit : word & ~bit;
}

/// Returns the first written page in [page, end), or `end`.
std::uint64_t MemoryStore::next_written_page(std::uint64_t page, std::uint64_t end) const {
  while (page < end) {
    const std::uint64_t rest = written_[page / kWordBits] >> page % kWordBits;
    if (rest != 0) return std::min(end, page + static_cast<std::uint64_t>(std::countr_zero(rest)));
    page = (page / kWordBits + 1) * kWordBits;
  }
  return end;
}

std::uint64_t MemoryStore::next_written(std::uint64_t lba) const {
  constexpr std::uint64_t kSectorsOfPage = kPageBytes / kSectorBytes;
  const std::uint64_t page = next_written_page(lba / kSectorsOfPage, pages_);
  return std::min(sectors_, std::max(lba, page * kSectorsOfPage));
}

Result<void> MemoryStore::read(std::uint64_t lba, std::span<std::byte> into) const {
  TRY(check_range("memory", sectors_, lba, into.size()));
  std::uint64_t at = lba * kSectorBytes;
  while (!into.empty()) {
    // Each pass copies a run of pages that are either all written or all unwritten.
    const bool there = written(at / kPageBytes);
    std::size_t count = in_page(at, into.size());
    while (count < into.size() && written((at + count) / kPageBytes) == there)
      count += in_page(at + count, into.size() - count);
    if (there)
      std::memcpy(into.data(), bytes_ + at, count);
    else
      std::memset(into.data(), 0, count);
    at += count;
    into = into.subspan(count);
  }
  return {};
}

/// Writes bytes within one page. REQUIRES: `data` is not all zeroes.
void MemoryStore::put(std::uint64_t at, std::span<const std::byte> data) {
  const std::uint64_t page = at / kPageBytes, begin = page * kPageBytes;
  if (!written(page)) {
    std::memset(bytes_ + begin, 0, at - begin);
    std::memset(bytes_ + at + data.size(), 0, begin + kPageBytes - at - data.size());
    mark(page, true);
  }
  std::memcpy(bytes_ + at, data.data(), data.size());
}

Result<void> MemoryStore::write(std::uint64_t lba, std::span<const std::byte> data) {
  TRY(check_range("memory", sectors_, lba, data.size()));
  std::uint64_t at = lba * kSectorBytes,
                zeroes_at = at;  // [zeroes_at, at) is zero in `data` but not written yet
  while (!data.empty()) {
    const auto piece = data.first(in_page(at, data.size()));
    if (!base::all_zero(piece)) {
      zero(zeroes_at, at);
      put(at, piece);
      zeroes_at = at + piece.size();
    }
    at += piece.size();
    data = data.subspan(piece.size());
  }
  zero(zeroes_at, at);
  return {};
}

Result<void> MemoryStore::write_zeroes(std::uint64_t lba, std::uint64_t count) {
  TRY(check_range("memory", sectors_, lba, count * kSectorBytes));
  zero(lba * kSectorBytes, (lba + count) * kSectorBytes);
  return {};
}

void MemoryStore::zero(std::uint64_t begin, std::uint64_t end) {
  if (begin == end) return;
  const std::uint64_t end_page = (end + kPageBytes - 1) / kPageBytes;
  bool any = false;
  for (std::uint64_t page = next_written_page(begin / kPageBytes, end_page); page < end_page;
       page = next_written_page(page + 1, end_page)) {
    const std::uint64_t from = std::max(begin, page * kPageBytes),
                        until = std::min(end, (page + 1) * kPageBytes);
    any = true;
    if (until - from == kPageBytes)
      mark(page, false);
    else
      std::memset(bytes_ + from, 0, until - from);
  }
  if (!any || end - begin < kGivenBackBytes) return;
  const auto kernels_page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const std::uint64_t first = (begin + kernels_page - 1) / kernels_page * kernels_page;
  const std::uint64_t last = end / kernels_page * kernels_page;
  if (first < last) (void)madvise(bytes_ + first, last - first, MADV_DONTNEED);
}

}  // namespace headcrash::media
