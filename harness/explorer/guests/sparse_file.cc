#include "harness/explorer/guests/sparse_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <vector>

#include "plugin/base/zeroes.h"

namespace headcrash::explorer {
namespace {

constexpr std::size_t kHoleBytes = 4096;
constexpr std::uint64_t kPieceSectors = (1 << 20) / model::kSectorBytes;

tl::unexpected<Error> no_copy(const char* what) {
  return fail("copy of a crash state",
              std::string(what) + ": " + std::error_code(errno, std::generic_category()).message());
}

/// Returns the length of the run at the beginning of `bytes`. If `zeroes` is true, the run consists
/// of blocks that contain only zeroes; otherwise, of blocks that contain other bytes.
std::size_t run_length(std::span<const std::byte> bytes, bool zeroes) {
  std::size_t length = 0;
  while (length < bytes.size()) {
    const std::size_t block = std::min(bytes.size() - length, kHoleBytes);
    if (base::all_zero(bytes.subspan(length, block)) != zeroes) break;
    length += block;
  }
  return length;
}

bool is_hole(const base::Descriptor& file, std::uint64_t offset, std::size_t bytes) {
  const off_t data = ::lseek(file.get(), static_cast<off_t>(offset), SEEK_DATA);
  return data < 0 ? errno == ENXIO : static_cast<std::uint64_t>(data) >= offset + bytes;
}

bool is_unwritten(const states::StateImage& image, std::uint64_t lba, std::uint64_t sectors) {
  bool unwritten = true;
  image.visit_written(lba, sectors, [&](std::uint64_t, std::uint64_t) { unwritten = false; });
  return unwritten;
}

/// Reads part of an image as a copy would contain it: the recorded contents, and zeroes for
/// unrecorded sectors, even on a used disk (record/used_disk.h).
Result<void> read_recorded(const states::StateImage& image, std::uint64_t lba,
                           std::vector<std::byte>& into) {
  std::fill(into.begin(), into.end(), std::byte{0});
  Result<void> result;
  image.visit_written(
      lba, into.size() / model::kSectorBytes, [&](std::uint64_t from, std::uint64_t count) {
        if (result)
          result = image.read(from, std::span(into).subspan((from - lba) * model::kSectorBytes,
                                                            count * model::kSectorBytes));
      });
  return result;
}

/// Finds zeroes that a program wrote to unrecorded sectors. On a used disk, such a write is a
/// change, because the sectors held other bytes. A hole in the file was not written, so it is not a
/// change.
///
/// `now` and `old` are the pieces at `offset` after and before the change. `old` has zeroes in
/// unrecorded sectors. Where the program wrote zeroes to these sectors, replaces the zeroes in
/// `old` with the bytes of the used disk, so that the comparison finds the change.
Result<void> see_written_zeroes(const states::StateImage& image, const base::Descriptor& file,
                                std::uint64_t offset, std::span<const std::byte> now,
                                std::span<std::byte> old) {
  const auto end = static_cast<off_t>(offset + now.size());
  off_t data = ::lseek(file.get(), static_cast<off_t>(offset), SEEK_DATA);
  while (data >= 0 && data < end) {
    const off_t hole = std::min(::lseek(file.get(), data, SEEK_HOLE), end);
    while (data < hole) {
      const std::size_t at = static_cast<std::uint64_t>(data) - offset;
      const std::size_t bytes = std::min(now.size() - at, kHoleBytes);
      const std::uint64_t lba = static_cast<std::uint64_t>(data) / model::kSectorBytes;
      data += static_cast<off_t>(bytes);
      if (!base::all_zero(now.subspan(at, bytes)) ||
          !is_unwritten(image, lba, bytes / model::kSectorBytes))
        continue;
      TRY(image.read(lba, old.subspan(at, bytes)));
    }
    data = ::lseek(file.get(), hole, SEEK_DATA);
  }
  return {};
}

/// Visits the blocks in which two pieces differ. The pieces have equal sizes, and both begin at
/// `offset`.
Result<void> visit_unequal_blocks(std::span<const std::byte> old, std::span<const std::byte> now,
                                  std::uint64_t offset, const OnPiece& on_piece) {
  const auto equal = [&](std::size_t at) {
    return std::memcmp(&old[at], &now[at], std::min(kHoleBytes, now.size() - at)) == 0;
  };
  for (std::size_t at = 0; at < now.size();) {
    const std::size_t first = at;
    const bool same = equal(at);
    while (at < now.size() && equal(at) == same) at += std::min(kHoleBytes, now.size() - at);
    if (same) continue;
    TRY(on_piece(offset + first, now.subspan(first, at - first)));
  }
  return {};
}

}  // namespace

Result<base::Descriptor> make_sparse_file(std::uint64_t bytes) {
  base::Descriptor file(::memfd_create("crash-state", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file.is_open() || ::ftruncate(file.get(), static_cast<off_t>(bytes)) != 0 ||
      ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK) != 0)
    return no_copy("cannot be created");
  return file;
}

Result<void> write_sparse(const base::Descriptor& file, std::uint64_t offset,
                          std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const std::size_t hole = run_length(bytes, true);
    bytes = bytes.subspan(hole);
    offset += hole;
    const std::size_t length = run_length(bytes, false);
    if (length == 0) continue;
    if (::pwrite(file.get(), bytes.data(), length, static_cast<off_t>(offset)) !=
        static_cast<ssize_t>(length))
      return no_copy("cannot be written");
    bytes = bytes.subspan(length);
    offset += length;
  }
  return {};
}

Result<void> visit_pieces(const states::StateImage& image, const OnPiece& on_piece,
                          Unwritten unwritten) {
  Result<void> visited;
  std::vector<std::byte> buffer;
  const auto visit = [&](std::uint64_t lba, std::uint64_t sectors) {
    while (visited && sectors > 0) {
      const std::uint64_t some = std::min(sectors, kPieceSectors);
      buffer.resize(some * model::kSectorBytes);
      visited = image.read(lba, buffer);
      if (visited) visited = on_piece(lba * model::kSectorBytes, buffer);
      lba += some;
      sectors -= some;
    }
  };
  if (unwritten == Unwritten::zeroes)
    image.visit_written(visit);
  else
    visit(0, image.sectors());
  return visited;
}

Result<void> visit_changes(const states::StateImage& image, const base::Descriptor& file,
                           const OnPiece& on_piece, Unwritten unwritten) {
  std::vector<std::byte> old, now;
  for (std::uint64_t lba = 0; lba < image.sectors(); lba += kPieceSectors) {
    const std::uint64_t sectors = std::min(kPieceSectors, image.sectors() - lba);
    const std::uint64_t offset = lba * model::kSectorBytes;
    old.resize(sectors * model::kSectorBytes);
    now.resize(old.size());
    const bool zeroes = unwritten == Unwritten::zeroes;
    if (zeroes && is_unwritten(image, lba, sectors) && is_hole(file, offset, now.size())) continue;
    TRY(zeroes ? read_recorded(image, lba, old) : image.read(lba, old));
    if (::pread(file.get(), now.data(), now.size(), static_cast<off_t>(offset)) !=
        static_cast<ssize_t>(now.size()))
      return no_copy("cannot be read");
    if (zeroes) TRY(see_written_zeroes(image, file, offset, now, old));
    TRY(visit_unequal_blocks(old, now, offset, on_piece));
  }
  return {};
}

}  // namespace headcrash::explorer
