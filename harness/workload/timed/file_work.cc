// Implements file operations that count and check their results (file_work.h).
#include "harness/workload/timed/file_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "harness/workload/stamp.h"

namespace headcrash::timed {
namespace {

using workload::kStampBytes;

tl::unexpected<PhaseError> phase_error(std::string_view verb, const std::string& path, int error) {
  const std::string why = std::error_code(error, std::generic_category()).message();
  return tl::unexpected(
      PhaseError{.what = fmt::format("{} {}: {}", verb, path, why), .error = error});
}

std::uint32_t version_of(std::uint64_t seed, std::uint32_t rewritten) {
  return static_cast<std::uint32_t>(mixed_seed(seed, 0, 0)) + rewritten;
}

/// Describes the first difference between two pieces, and the kind of bytes at this position.
std::string difference(std::span<const std::byte> found, std::span<const std::byte> expected) {
  const auto at = std::mismatch(found.begin(), found.end(), expected.begin()).first - found.begin();
  const auto rest = found.subspan(static_cast<std::size_t>(at));
  const auto look = rest.first(std::min<std::size_t>(rest.size(), 16));
  const bool zeros =
      std::all_of(look.begin(), look.end(), [](std::byte b) { return b == std::byte{0}; });
  return fmt::format("byte {} of the piece is wrong{}", at, zeros ? ": zeros" : "");
}

}  // namespace

std::uint64_t mixed_seed(std::uint64_t seed, std::uint64_t user, std::uint64_t purpose) {
  std::uint64_t z = seed * 0x9e3779b97f4a7c15 + user * 0xff51afd7ed558ccd + purpose + 1;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

FileWork::FileWork(User& user, std::size_t unit_bytes) : user_(user), unit_(unit_bytes) {}

PhaseResult FileWork::go_on() const {
  if (user_.interrupted == nullptr || !user_.interrupted->load(std::memory_order_relaxed))
    return {};
  return tl::unexpected(PhaseError{.what = "another user failed", .error = ECANCELED});
}

PhaseResult FileWork::phase_result(const VfsResult<void>& done, std::string_view verb,
                                   const std::string& path) {
  if (!done) return phase_error(verb, path, done.error().value);
  return {};
}

PhaseResult FileWork::make_folder(const std::string& path) {
  TRY(go_on());
  return phase_result(user_.vfs.mkdir(path, 0755), "mkdir", path);
}

PhaseResult FileWork::remove_folder(const std::string& path) {
  TRY(go_on());
  return phase_result(user_.vfs.rmdir(path), "rmdir", path);
}

PhaseResult FileWork::remove(const std::string& path) {
  TRY(go_on());
  return phase_result(user_.vfs.unlink(path), "unlink", path);
}

PhaseResult FileWork::stat(const std::string& path) {
  TRY(go_on());
  if (const auto status = user_.vfs.stat(path); !status)
    return phase_error("stat", path, status.error().value);
  return {};
}

PhaseResult FileWork::with_open(const TimedFile& file, const OpenOptions& options,
                                std::string_view verb,
                                const std::function<PhaseResult(FileHandle)>& body) {
  TRY(go_on());
  const auto handle = user_.vfs.open(file.path, options);
  if (!handle) return phase_error(verb, file.path, handle.error().value);
  if (const PhaseResult done = body(*handle); !done) {
    (void)user_.vfs.close(*handle);
    return done;
  }
  return phase_result(user_.vfs.close(*handle), "close", file.path);
}

PhaseResult FileWork::list(const std::string& path) {
  TRY(go_on());
  if (const auto listed = user_.vfs.list(path); !listed)
    return phase_error("list", path, listed.error().value);
  return {};
}

PhaseResult FileWork::fsync(const TimedFile& file) {
  return with_open(file, {}, "open", [&](FileHandle handle) {
    return phase_result(user_.vfs.fsync(handle), "fsync", file.path);
  });
}

PhaseResult FileWork::sync() {
  return phase_result(user_.vfs.syncfs(), "sync", "/");
}

PhaseResult FileWork::create(const TimedFile& file) {
  return with_open(file, {.create = true, .exclusive = true}, "create",
                   [&](FileHandle handle) { return write_at(handle, file, 0, file.bytes); });
}

PhaseResult FileWork::read(const TimedFile& file) {
  return with_open(file, {}, "open", [&](FileHandle handle) -> PhaseResult {
    TRY(read_at(handle, file, 0, file.bytes));
    std::array<std::byte, 1> beyond;
    const auto more = user_.vfs.pread(handle, file.bytes, beyond);
    if (!more) return phase_error("read", file.path, more.error().value);
    if (*more > 0)
      return tl::unexpected(
          PhaseError{.what = fmt::format("{} is longer than {} bytes", file.path, file.bytes)});
    return {};
  });
}

PhaseResult FileWork::inspect_layout(const TimedFile& file) {
  const std::uint64_t blocks = (file.bytes + Layout::kBlockBytes - 1) / Layout::kBlockBytes;
  if (blocks < 2) return {};
  return with_open(file, {}, "open", [&](FileHandle handle) -> PhaseResult {
    const auto pieces = user_.vfs.pieces(handle);
    if (!pieces && pieces.error().value == ENOTSUP) return {};
    if (!pieces) return phase_error("map", file.path, pieces.error().value);
    ++user_.tally.layout.files;
    user_.tally.layout.blocks += blocks;
    user_.tally.layout.pieces += std::max<std::uint64_t>(*pieces, 1);
    return {};
  });
}

PhaseResult FileWork::copy(const TimedFile& from, const std::string& to) {
  TimedFile copied = from;
  copied.path = to;
  const auto piece_by_piece = [&](FileHandle source, FileHandle target) -> PhaseResult {
    for (std::uint64_t offset = 0; offset < from.bytes; offset += unit_.size()) {
      const auto piece =
          std::span(unit_).first(std::min<std::uint64_t>(unit_.size(), from.bytes - offset));
      TRY(read_at(source, from, offset, piece.size()));
      TRY(write_piece(target, copied, offset, piece));
    }
    return {};
  };
  return with_open(from, {}, "open", [&](FileHandle source) {
    return with_open(copied, {.create = true, .exclusive = true}, "create",
                     [&](FileHandle target) { return piece_by_piece(source, target); });
  });
}

PhaseResult FileWork::write_piece(FileHandle handle, const TimedFile& file, std::uint64_t offset,
                                  std::span<const std::byte> piece) {
  if (const auto put = user_.vfs.pwrite(handle, offset, piece); !put)
    return phase_error("write", file.path, put.error().value);
  user_.tally.bytes_written += piece.size();
  return {};
}

PhaseResult FileWork::write_at(FileHandle handle, const TimedFile& file, std::uint64_t offset,
                               std::uint64_t bytes) {
  for (std::uint64_t done = 0; done < bytes;) {
    TRY(go_on());
    const auto piece = std::span(unit_).first(std::min<std::uint64_t>(unit_.size(), bytes - done));
    fill(file, offset + done, piece);
    TRY(write_piece(handle, file, offset + done, piece));
    done += piece.size();
  }
  return {};
}

PhaseResult FileWork::read_at(FileHandle handle, const TimedFile& file, std::uint64_t offset,
                              std::uint64_t bytes) {
  for (std::uint64_t done = 0; done < bytes;) {
    TRY(go_on());
    const auto piece = std::span(unit_).first(std::min<std::uint64_t>(unit_.size(), bytes - done));
    const auto got = user_.vfs.pread(handle, offset + done, piece);
    if (!got) return phase_error("read", file.path, got.error().value);
    if (*got < piece.size())
      return tl::unexpected(PhaseError{.what = fmt::format("{} ends at byte {}, not {}", file.path,
                                                           offset + done + *got, file.bytes)});
    user_.tally.bytes_read += piece.size();
    TRY(compare(file, offset + done, piece));
    done += piece.size();
  }
  return {};
}

void FileWork::fill(const TimedFile& file, std::uint64_t offset, std::span<std::byte> data) const {
  const std::uint32_t version = version_of(user_.seed, file.rewritten);
  if (const std::size_t into_block = offset % kStampBytes; into_block != 0) {
    std::array<std::byte, kStampBytes> block;
    workload::write_stamp({file.number, version, offset / kStampBytes}, block);
    const std::size_t length = std::min(data.size(), kStampBytes - into_block);
    std::memcpy(data.data(), block.data() + into_block, length);
    offset += length;
    data = data.subspan(length);
  }
  workload::write_stamps(file.number, version, offset, data);
}

PhaseResult FileWork::compare(const TimedFile& file, std::uint64_t offset,
                              std::span<const std::byte> found) {
  expected_.resize(std::max(expected_.size(), found.size()));
  const auto expected = std::span(expected_).first(found.size());
  fill(file, offset, expected);
  if (std::memcmp(found.data(), expected.data(), found.size()) == 0) return {};
  return tl::unexpected(
      PhaseError{.what = fmt::format("{}: wrong data at offset {} ({})", file.path, offset,
                                     difference(found, expected))});
}

PhaseResult FileWork::expect_entries(const std::string& folder, std::size_t count) {
  const auto found = user_.vfs.list(folder);
  if (!found) return phase_error("list", folder, found.error().value);
  if (found->size() == count) return {};
  return tl::unexpected(
      PhaseError{.what = fmt::format("{} has {} entries, not {}", folder, found->size(), count)});
}

PhaseResult FileWork::expect_missing(const std::string& path) {
  const auto status = user_.vfs.stat(path);
  if (status) return tl::unexpected(PhaseError{.what = path + " still exists"});
  if (status.error().value != ENOENT) return phase_error("stat", path, status.error().value);
  return {};
}

}  // namespace headcrash::timed
