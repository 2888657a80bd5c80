#include "fs-adapters/lfs/directory_log.h"

#include <cstring>

#include "plugin/base/little_endian.h"

namespace headcrash::lfs {
using namespace little_endian;
namespace {

/// Size of a record's fixed part. The shortest entry in Sprite LFS has the same size.
constexpr std::size_t kFixedBytes = 32;
constexpr std::size_t kCreatedBytes = 20;  // user, group, time, and length of the target
constexpr std::size_t kTargetMax = 4095;
// The value 1 cannot be used: earlier versions of headcrash set it in the last record of an
// operation.
constexpr std::uint8_t kMoreFollows = 2;

std::size_t round_up_4(std::size_t bytes) {
  return (bytes + 3) / 4 * 4;
}

void copy_text(std::span<std::byte> into, std::size_t at, const std::string& text) {
  if (!text.empty()) std::memcpy(into.data() + at, text.data(), text.size());
}

std::string text_at(std::span<const std::byte> bytes, std::size_t at, std::size_t length) {
  std::string text(length, '\0');
  if (length != 0) std::memcpy(text.data(), bytes.data() + at, length);
  return text;
}

/// Decodes the single record in `b`.
std::optional<NameRecord> decode(std::span<const std::byte> b) {
  const std::uint8_t operation = load8(b, 2);
  if (operation < static_cast<std::uint8_t>(NameOperation::create) ||
      operation > static_cast<std::uint8_t>(NameOperation::links))
    return std::nullopt;
  NameRecord record;
  record.operation = static_cast<NameOperation>(operation);
  record.more_follows = (load8(b, 3) & kMoreFollows) != 0;
  record.directory = load32(b, 4);
  record.directory_generation = load32(b, 8);
  record.target = load32(b, 12);
  record.target_generation = load32(b, 16);
  record.directory_links = load16(b, 20);
  record.target_links = load16(b, 22);
  record.block = load32(b, 24);
  record.mode = load16(b, 28);
  const std::size_t name_bytes = load8(b, 30);
  if (name_bytes > b.size() - kFixedBytes) return std::nullopt;
  if ((name_bytes == 0) != (record.operation == NameOperation::links)) return std::nullopt;
  record.name = text_at(b, kFixedBytes, name_bytes);
  if (record.name.find('/') != std::string::npos || record.name.find('\0') != std::string::npos)
    return std::nullopt;
  if (record.operation != NameOperation::create) return record;
  const std::size_t at = kFixedBytes + round_up_4(name_bytes);
  if (at + kCreatedBytes > b.size()) return std::nullopt;
  record.user = load32(b, at);
  record.group = load32(b, at + 4);
  record.time = {.seconds = static_cast<std::int32_t>(load32(b, at + 8)),
                 .nanoseconds = static_cast<std::int32_t>(load32(b, at + 12))};
  const std::size_t target_bytes = load32(b, at + 16);
  if (target_bytes > kTargetMax || target_bytes > b.size() - at - kCreatedBytes)
    return std::nullopt;
  record.symlink_target = text_at(b, at + kCreatedBytes, target_bytes);
  return record;
}

}  // namespace

std::size_t encoded_bytes(const NameRecord& record) {
  std::size_t bytes = kFixedBytes + round_up_4(record.name.size());
  if (record.operation == NameOperation::create)
    bytes += kCreatedBytes + round_up_4(record.symlink_target.size());
  return bytes;
}

void append(const NameRecord& record, std::vector<std::byte>& into) {
  const std::size_t bytes = encoded_bytes(record);
  into.resize(into.size() + bytes);
  const auto b = std::span(into).last(bytes);
  store16(b, 0, static_cast<std::uint16_t>(bytes));
  store8(b, 2, static_cast<std::uint8_t>(record.operation));
  store8(b, 3, record.more_follows ? kMoreFollows : 0);
  store32(b, 4, record.directory);
  store32(b, 8, record.directory_generation);
  store32(b, 12, record.target);
  store32(b, 16, record.target_generation);
  store16(b, 20, record.directory_links);
  store16(b, 22, record.target_links);
  store32(b, 24, record.block);
  store16(b, 28, record.mode);
  store8(b, 30, static_cast<std::uint8_t>(record.name.size()));
  copy_text(b, kFixedBytes, record.name);
  if (record.operation != NameOperation::create) return;
  const std::size_t at = kFixedBytes + round_up_4(record.name.size());
  store32(b, at, record.user);
  store32(b, at + 4, record.group);
  store32(b, at + 8, static_cast<std::uint32_t>(record.time.seconds));
  store32(b, at + 12, static_cast<std::uint32_t>(record.time.nanoseconds));
  store32(b, at + 16, static_cast<std::uint32_t>(record.symlink_target.size()));
  copy_text(b, at + kCreatedBytes, record.symlink_target);
}

std::optional<std::vector<NameRecord>> decode_directory_log(std::span<const std::byte> bytes) {
  std::vector<NameRecord> records;
  for (std::size_t at = 0; at + kFixedBytes <= bytes.size();) {
    const std::size_t length = load16(bytes, at);
    if (length == 0) return records;
    if (length < kFixedBytes || length % 4 != 0 || length > bytes.size() - at) return std::nullopt;
    auto record = decode(bytes.subspan(at, length));
    if (!record) return std::nullopt;
    records.push_back(std::move(*record));
    at += length;
  }
  return records;
}

}  // namespace headcrash::lfs
