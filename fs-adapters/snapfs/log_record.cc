// Encodes and decodes log records (log_record.h). FORMAT.md has the table.
#include "fs-adapters/snapfs/log_record.h"

#include <algorithm>
#include <array>

#include "plugin/base/crc32c.h"
#include "plugin/base/little_endian.h"

namespace headcrash::snapfs {
using namespace little_endian;
namespace {

constexpr std::uint32_t kLogMagic = 0x4c50'4e53;  // "SNPL"
constexpr std::size_t kLogHeaderBytes = 80;
constexpr std::size_t kLogChecksumAt = 12;
// Offset of six counts: the number of inodes, and then the lengths of the five lists.
constexpr std::size_t kCountsAt = 52;
constexpr std::size_t kPreviousAt = 76;

std::uint32_t checksum_of_record(std::span<const std::byte> record) {
  const std::array<std::byte, 4> zero = {};
  std::uint32_t crc = crc32c(record.first(kLogChecksumAt));
  crc = crc32c(zero, crc);
  return crc32c(record.subspan(kLogChecksumAt + 4), crc);
}

auto lists_of(auto& record) {
  return std::array{&record.removed, &record.born, &record.freed, &record.numbers_born,
                    &record.numbers_freed};
}

std::size_t bytes_of(std::uint64_t inodes, std::uint64_t numbers) {
  const std::uint64_t bytes = kLogHeaderBytes + inodes * kInodeBytes + numbers * 4;
  return (bytes + kSectorBytes - 1) / kSectorBytes * kSectorBytes;
}

bool is_sound_record(const LogRecord& record, const Superblock& s) {
  const auto block = [&](BlockAddress address) { return s.holds(address); };
  const auto number = [&](InodeNumber each) { return each >= kRootInode && each < s.inodes; };
  return std::ranges::all_of(record.born, block) && std::ranges::all_of(record.freed, block) &&
         std::ranges::all_of(record.removed, number) &&
         std::ranges::all_of(record.numbers_born, number) &&
         std::ranges::all_of(record.numbers_freed, number) && record.free_blocks <= s.blocks &&
         record.free_inodes <= s.inodes && record.unlinked <= s.inodes;
}

}  // namespace

std::size_t LogRecord::bytes() const {
  std::size_t numbers = 0;
  for (const auto* list : lists_of(*this)) numbers += list->size();
  return bytes_of(inodes.size(), numbers);
}

std::vector<std::byte> encode(LogRecord& record, const Superblock& superblock) {
  std::vector<std::byte> bytes(record.bytes());
  const std::span<std::byte> b(bytes);
  store32(b, 0, kLogMagic);
  store32(b, 4, superblock.id);
  store32(b, 8, static_cast<std::uint32_t>(bytes.size()));
  store64(b, 16, record.base);
  store32(b, 24, record.sequence);
  store32(b, 28, record.free_blocks);
  store32(b, 32, record.free_inodes);
  store32(b, 36, record.unlinked);
  store32(b, 40, record.next_generation);
  store32(b, 44, static_cast<std::uint32_t>(record.time.seconds));
  store32(b, 48, static_cast<std::uint32_t>(record.time.nanoseconds));
  store32(b, kCountsAt, static_cast<std::uint32_t>(record.inodes.size()));
  std::size_t at = kLogHeaderBytes;
  for (const Inode& inode : record.inodes) {
    encode(inode, b.subspan(at, kInodeBytes));
    at += kInodeBytes;
  }
  std::size_t count_at = kCountsAt;
  for (const auto* list : lists_of(record)) {
    store32(b, count_at += 4, static_cast<std::uint32_t>(list->size()));
    for (const std::uint32_t each : *list) {
      store32(b, at, each);
      at += 4;
    }
  }
  store32(b, kPreviousAt, record.previous_checksum);
  record.checksum = checksum_of_record(b);
  store32(b, kLogChecksumAt, record.checksum);
  return bytes;
}

Result<LogRecord> decode_log_record(std::span<const std::byte> bytes,
                                    const Superblock& superblock) {
  if (bytes.size() < kLogHeaderBytes || load32(bytes, 0) != kLogMagic ||
      load32(bytes, 4) != superblock.id)
    return fail("snapfs log", "no record");
  const std::size_t length = load32(bytes, 8);
  if (length > bytes.size() || length < kLogHeaderBytes)
    return fail("snapfs log", "a truncated record");
  const auto b = bytes.first(length);
  std::uint64_t numbers = 0;
  for (std::size_t list = 1; list <= 5; ++list) numbers += load32(b, kCountsAt + list * 4);
  const std::uint32_t inodes = load32(b, kCountsAt);
  if (bytes_of(inodes, numbers) != length)
    return fail("snapfs log", "a record of the wrong length");
  if (load32(b, kLogChecksumAt) != checksum_of_record(b))
    return fail("snapfs log", "a record with a bad checksum");
  LogRecord record{.base = load64(b, 16),
                   .sequence = load32(b, 24),
                   .free_blocks = load32(b, 28),
                   .free_inodes = load32(b, 32),
                   .unlinked = load32(b, 36),
                   .next_generation = load32(b, 40),
                   .time = {.seconds = static_cast<std::int32_t>(load32(b, 44)),
                            .nanoseconds = static_cast<std::int32_t>(load32(b, 48))},
                   .previous_checksum = load32(b, kPreviousAt),
                   .checksum = load32(b, kLogChecksumAt)};
  std::size_t at = kLogHeaderBytes;
  record.inodes.reserve(inodes);
  for (std::uint32_t i = 0; i < inodes; ++i, at += kInodeBytes) {
    const auto bytes_of_inode = b.subspan(at, kInodeBytes);
    const InodeNumber number = load32(bytes_of_inode, 0);
    TRY(auto inode, decode_inode(bytes_of_inode, number, superblock));
    if (!inode || number < kRootInode || number >= superblock.inodes)
      return fail("snapfs log", "a record with an invalid inode");
    record.inodes.push_back(*inode);
  }
  std::size_t count_at = kCountsAt;
  for (auto* list : lists_of(record)) {
    list->resize(load32(b, count_at += 4));
    for (std::uint32_t& each : *list) {
      each = load32(b, at);
      at += 4;
    }
  }
  if (!is_sound_record(record, superblock)) return fail("snapfs log", "an invalid record");
  return record;
}

void seal_log(std::span<std::byte> log) {
  for (std::uint32_t previous = 0; log.size() >= kLogHeaderBytes;) {
    const std::size_t length = load32(log, 8);
    if (load32(log, 0) != kLogMagic || length < kLogHeaderBytes || length > log.size()) return;
    const auto record = log.first(length);
    const std::size_t inodes =
        std::min<std::size_t>(load32(record, kCountsAt), (length - kLogHeaderBytes) / kInodeBytes);
    for (std::size_t i = 0; i < inodes; ++i)
      seal_inode(record.subspan(kLogHeaderBytes + i * kInodeBytes, kInodeBytes));
    store32(record, kPreviousAt, previous);
    previous = checksum_of_record(record);
    store32(record, kLogChecksumAt, previous);
    log = log.subspan(length);
  }
}

std::vector<LogRecord> records_of(std::span<const std::byte> log, const Superblock& superblock) {
  std::vector<LogRecord> records;
  while (!log.empty()) {
    auto record = decode_log_record(log, superblock);
    if (!record || record->base != superblock.generation || record->sequence != records.size())
      break;
    if (record->previous_checksum != (records.empty() ? 0 : records.back().checksum)) break;
    log = log.subspan(record->bytes());
    records.push_back(*std::move(record));
  }
  return records;
}

}  // namespace headcrash::snapfs
