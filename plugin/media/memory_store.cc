// A medium in memory (memory_store.h). Whole pages that are zeroed, or written full of zeroes, go back to the
// kernel, which gives them out again as zeroes; the edges are cleared by hand. Zeroes over zeroes are not
// written at all: reading a page that has none costs no memory.
#include "plugin/media/memory_store.h"

#include <fmt/core.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "plugin/media/range.h"

namespace headcrash::media {

using model::kSectorBytes;

namespace {

constexpr std::size_t kZeroBytes = 4096;  ///< looked at at a time; no page is smaller
constexpr std::size_t kPieceBytes = 64 << 10;

bool all_zero(const std::byte* bytes, std::size_t count) {
  static const std::byte zeroes[kZeroBytes] = {};
  return std::memcmp(bytes, zeroes, count) == 0;
}

/// Of data that goes to `at`, what lies in the first page.
std::size_t piece_bytes(std::uint64_t at, std::span<const std::byte> data) {
  return std::min<std::size_t>(data.size(), kZeroBytes - at % kZeroBytes);
}

/// Of data that goes to `at`, how much comes before the first page of zeroes.
std::size_t bytes_before_zeroes(std::uint64_t at, std::span<const std::byte> data) {
  std::size_t kept = 0;
  while (kept < data.size()) {
    const std::size_t piece = piece_bytes(at + kept, data.subspan(kept));
    if (all_zero(data.data() + kept, piece)) break;
    kept += piece;
  }
  return kept;
}

}  // namespace

Result<std::unique_ptr<MemoryStore>> MemoryStore::create(std::uint64_t sectors) {
  const std::string subject = fmt::format("memory for {} sectors", sectors);
  if (sectors == 0) return fail(subject, "a medium needs at least one sector", "choose a larger size");
  if (sectors > std::numeric_limits<std::int64_t>::max() / kSectorBytes)
    return fail(subject, "is more than a process can address", "choose a smaller size");
  void* bytes = mmap(nullptr, sectors * kSectorBytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (bytes == MAP_FAILED)
    return fail(subject, "the host refuses this much address space",
                "choose a smaller size or keep the bytes in files with store=DIR");
  return std::unique_ptr<MemoryStore>(new MemoryStore(static_cast<std::byte*>(bytes), sectors));
}

MemoryStore::MemoryStore(std::byte* bytes, std::uint64_t sectors)
    : bytes_(bytes), sectors_(sectors), written_(sectors * kSectorBytes / kPieceBytes + 1, false) {}

void MemoryStore::mark(std::uint64_t first_byte, std::size_t count) {
  const std::size_t last = (first_byte + count - 1) / kPieceBytes;
  for (std::size_t piece = first_byte / kPieceBytes; piece <= last; ++piece) written_[piece] = true;
}

std::uint64_t MemoryStore::next_written(std::uint64_t lba) const {
  std::size_t piece = lba * kSectorBytes / kPieceBytes;
  if (piece < written_.size() && written_[piece]) return lba;
  while (piece < written_.size() && !written_[piece]) ++piece;
  return std::min(sectors_, static_cast<std::uint64_t>(piece) * (kPieceBytes / kSectorBytes));
}

MemoryStore::~MemoryStore() {
  munmap(bytes_, sectors_ * kSectorBytes);
}

Result<void> MemoryStore::read(std::uint64_t lba, std::span<std::byte> into) const {
  if (auto inside = check_range("memory", sectors_, lba, into.size()); !inside) return inside;
  std::uint64_t at = lba * kSectorBytes;
  while (!into.empty()) {
    const auto part = into.first(std::min<std::size_t>(into.size(), kPieceBytes - at % kPieceBytes));
    if (written_[at / kPieceBytes])
      std::memcpy(part.data(), bytes_ + at, part.size());
    else
      std::memset(part.data(), 0, part.size());
    at += part.size();
    into = into.subspan(part.size());
  }
  return {};
}

Result<void> MemoryStore::write(std::uint64_t lba, std::span<const std::byte> data) {
  if (auto inside = check_range("memory", sectors_, lba, data.size()); !inside) return inside;
  std::uint64_t at = lba * kSectorBytes;
  while (!data.empty()) {
    const std::size_t kept = bytes_before_zeroes(at, data);
    if (kept > 0) {
      mark(at, kept);
      std::memcpy(bytes_ + at, data.data(), kept);
    }
    at += kept;
    data = data.subspan(kept);
    if (data.empty()) break;
    const std::size_t zeroes = piece_bytes(at, data);
    if (written_[at / kPieceBytes] && !all_zero(bytes_ + at, zeroes)) {
      if (auto done = write_zeroes(at / kSectorBytes, zeroes / kSectorBytes); !done) return done;
    }
    at += zeroes;
    data = data.subspan(zeroes);
  }
  return {};
}

Result<void> MemoryStore::write_zeroes(std::uint64_t lba, std::uint64_t count) {
  if (auto inside = check_range("memory", sectors_, lba, count * kSectorBytes); !inside) return inside;
  const std::uint64_t page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const std::uint64_t begin = lba * kSectorBytes;
  const std::uint64_t end = begin + count * kSectorBytes;
  std::size_t piece = begin / kPieceBytes;
  while (piece * kPieceBytes < end && !written_[piece]) ++piece;
  if (piece * kPieceBytes >= end) return {};
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
