#include "harness/lab/sparse_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <vector>

namespace headcrash::lab {
namespace {

constexpr std::size_t kHoleBytes = 4096;
constexpr std::uint64_t kPieceSectors = (1 << 20) / model::kSectorBytes;

tl::unexpected<Error> no_copy(const char* what) {
  return fail("copy of a crash state",
              std::string(what) + ": " + std::error_code(errno, std::generic_category()).message());
}

bool all_zeroes(std::span<const std::byte> bytes) {
  static constexpr std::array<std::byte, kHoleBytes> kZeroes{};
  return std::memcmp(bytes.data(), kZeroes.data(), bytes.size()) == 0;
}

/// Of the blocks from the beginning on that are alike: all zeroes, or none of them.
std::size_t run_length(std::span<const std::byte> bytes, bool zeroes) {
  std::size_t length = 0;
  while (length < bytes.size()) {
    const std::size_t block = std::min(bytes.size() - length, kHoleBytes);
    if (all_zeroes(bytes.subspan(length, block)) != zeroes) break;
    length += block;
  }
  return length;
}

}  // namespace

Result<process::Descriptor> make_sparse_file(std::uint64_t bytes) {
  process::Descriptor file(::memfd_create("crash-state", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file.is_open() || ::ftruncate(file.get(), static_cast<off_t>(bytes)) != 0 ||
      ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK) != 0)
    return no_copy("cannot be made");
  return file;
}

Result<void> put_sparse(const process::Descriptor& file, std::uint64_t offset,
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

Result<void> visit_pieces(const states::StateImage& image, const OnPiece& on_piece) {
  Result<void> visited;
  std::vector<std::byte> buffer;
  image.visit_written([&](std::uint64_t lba, std::uint64_t sectors) {
    while (visited && sectors > 0) {
      const std::uint64_t some = std::min(sectors, kPieceSectors);
      buffer.resize(some * model::kSectorBytes);
      visited = image.read(lba, buffer);
      if (visited) visited = on_piece(lba * model::kSectorBytes, buffer);
      lba += some;
      sectors -= some;
    }
  });
  return visited;
}

}  // namespace headcrash::lab
