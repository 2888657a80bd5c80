#include "plugin/record/payload_index.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>

#include "plugin/record/event_format.h"
#include "plugin/record/log_file.h"

namespace headcrash::record {
namespace {

using Payload = PayloadIndex::Payload;

constexpr std::size_t kPieceBytes = 128 << 10;
constexpr const char* kRestoreIt = "the recording is damaged: restore it";

tl::unexpected<Error> damaged(const std::string& path, const Payload& payload) {
  return fail(path,
              fmt::format("the bytes of the event at offset {} do not match their checksum",
                          payload.at - kEventHeaderBytes),
              kRestoreIt);
}

tl::unexpected<Error> carried_by_none(const std::string& path, std::uint64_t offset) {
  return fail(path, fmt::format("no event carries bytes at offset {}", offset), kRestoreIt);
}

Result<Payload> payload_at(int fd, const std::string& path, std::uint64_t offset) {
  if (offset < kTextAt + kEventHeaderBytes) return carried_by_none(path, offset);
  EventHeader head;
  TRY(read_exactly(fd, path, offset - kEventHeaderBytes, writable_bytes_of(head)));
  if (head.header_crc != crc_of(head) || head.payload_bytes > kPayloadBytesMax)
    return carried_by_none(path, offset);
  return Payload{offset, head.payload_bytes, head.payload_crc};
}

/// Reads a whole payload, verifies its checksum and returns the bytes from `offset` on.
Result<void> read_verified(int fd, const std::string& path, const Payload& payload,
                           std::uint64_t offset, std::span<std::byte> into) {
  std::uint32_t crc = 0;
  if (into.size() == payload.bytes) {
    TRY(read_exactly(fd, path, offset, into));
    crc = crc32c(into);
  } else {
    const auto buffer = std::make_unique_for_overwrite<std::byte[]>(
        std::min<std::size_t>(kPieceBytes, payload.bytes));
    for (std::uint64_t at = payload.at; at < payload.end(); at += kPieceBytes) {
      const std::span piece(buffer.get(), std::min<std::uint64_t>(kPieceBytes, payload.end() - at));
      TRY(read_exactly(fd, path, at, piece));
      crc = crc32c(piece, crc);
      const std::uint64_t from = std::max(at, offset);
      const std::uint64_t to = std::min(at + piece.size(), offset + into.size());
      if (from < to)
        std::memcpy(into.data() + (from - offset), piece.data() + (from - at), to - from);
    }
  }
  if (crc != payload.crc) return damaged(path, payload);
  return {};
}

}  // namespace

void PayloadIndex::add(const Payload& payload, bool verified) {
  payloads_.push_back(payload);
  verified_.emplace_back(verified);
}

Result<void> PayloadIndex::read(int fd, const std::string& path, std::uint64_t offset,
                                std::span<std::byte> into) const {
  const auto behind = std::upper_bound(
      payloads_.begin(), payloads_.end(), offset,
      [](std::uint64_t value, const Payload& payload) { return value < payload.at; });
  if (behind != payloads_.begin() && offset < std::prev(behind)->end()) {
    const Payload& payload = *std::prev(behind);
    if (into.size() > payload.end() - offset) return carried_by_none(path, payload.end());
    auto& verified = verified_[static_cast<std::size_t>(std::prev(behind) - payloads_.begin())];
    if (verified.load(std::memory_order_relaxed)) return read_exactly(fd, path, offset, into);
    TRY(read_verified(fd, path, payload, offset, into));
    verified.store(true, std::memory_order_relaxed);
    return {};
  }
  TRY(const auto payload, payload_at(fd, path, offset));
  if (into.size() > payload.bytes) return carried_by_none(path, payload.end());
  return read_verified(fd, path, payload, offset, into);
}

}  // namespace headcrash::record
