// Encodes and decodes headers and tables (format.h).
#include "fs-adapters/examples/shadow/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <string_view>

#include "fs-adapters/substrate/tree/directory_block.h"
#include "plugin/base/crc32c.h"
#include "plugin/base/little_endian.h"

namespace headcrash::shadow {
namespace {

using namespace little_endian;

constexpr std::string_view kMagic = "hcshadow";
constexpr std::size_t kChecksumOffset = kSectorBytes - 4;

std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

void put(std::vector<std::byte>& bytes, const tree::Timestamp& time) {
  const std::size_t at = bytes.size();
  bytes.resize(at + 8);
  store32(bytes, at, static_cast<std::uint32_t>(time.seconds));
  store32(bytes, at + 4, static_cast<std::uint32_t>(time.nanoseconds));
}

tree::Timestamp timestamp_at(std::span<const std::byte> bytes, std::size_t at) {
  return {.seconds = static_cast<std::int32_t>(load32(bytes, at)),
          .nanoseconds = static_cast<std::int32_t>(load32(bytes, at + 4))};
}

std::optional<Header> decode_header(std::span<const std::byte> sector,
                                    std::uint64_t device_sectors) {
  const auto magic = std::as_bytes(std::span(kMagic));
  if (!std::ranges::equal(sector.first(magic.size()), magic)) return {};
  if (load32(sector, kChecksumOffset) != crc32c(sector.first(kChecksumOffset))) return {};
  const Header header{.geometry = {.id = load64(sector, 8),
                                   .block_bytes = load32(sector, 24),
                                   .blocks = load32(sector, 28),
                                   .inodes = load32(sector, 32)},
                      .sequence = load64(sector, 16),
                      .table_bytes = load32(sector, 36),
                      .table_checksum = load32(sector, 40),
                      .next_generation = load32(sector, 44),
                      .clean = load32(sector, 48) != 0};
  const Geometry& g = header.geometry;
  if (g.block_bytes < tree::kChunkBytes || g.block_bytes > (1U << 16U) ||
      !std::has_single_bit(g.block_bytes))
    return {};
  if (g.blocks == 0 || g.inodes == 0 || g.inodes > (1U << 24U) ||
      g.device_sectors() > device_sectors)
    return {};
  if (header.table_bytes > g.table_sectors() * kSectorBytes) return {};
  return header;
}

tl::unexpected<Error> bad(InodeNumber number, std::string_view what) {
  return fail(fmt::format("inode {} in the table", number), std::string(what),
              "restore the file system from a backup");
}

Result<std::vector<Record>> decode_table(std::span<const std::byte> table,
                                         const Geometry& geometry) {
  std::vector<Record> records;
  for (std::size_t at = 0; at < table.size();) {
    if (table.size() - at < kRecordBytes) return bad(0, "is truncated");
    Record record{.number = load32(table, at)};
    tree::Attributes& its = record.attributes;
    its.mode = load16(table, at + 4);
    its.links = load16(table, at + 6);
    its.size_bytes = load64(table, at + 8);
    its.user = load32(table, at + 16);
    its.group = load32(table, at + 20);
    its.generation = load32(table, at + 24);
    its.accessed = timestamp_at(table, at + 28);
    its.modified = timestamp_at(table, at + 36);
    its.changed = timestamp_at(table, at + 44);
    const std::uint32_t count = load32(table, at + 52);
    at += kRecordBytes;
    if (record.number < kRootInode || record.number - kRootInode >= geometry.inodes ||
        (!records.empty() && record.number <= records.back().number))
      return bad(record.number, "has an invalid number");
    if (!its.is_directory() && !its.is_regular() && !its.is_symlink())
      return bad(record.number, "has an invalid type");
    if (its.links == 0 || its.size_bytes > kFileBytesMax)
      return bad(record.number, "has no links or an invalid size");
    if (count > geometry.blocks || count * kPointerBytes > table.size() - at)
      return bad(record.number, "has too many blocks");
    for (std::uint32_t i = 0; i < count; ++i, at += kPointerBytes) {
      const std::uint32_t block = load32(table, at), address = load32(table, at + 4);
      if (address >= geometry.blocks || block > kFileBytesMax / geometry.block_bytes ||
          !record.blocks.emplace(block, address).second)
        return bad(record.number, "has an invalid block");
    }
    records.push_back(std::move(record));
  }
  if (records.empty() || records.front().number != kRootInode ||
      !records.front().attributes.is_directory())
    return bad(kRootInode, "is the root, but not a directory");
  return records;
}

}  // namespace

std::uint64_t Geometry::table_sectors() const {
  const std::uint64_t bytes =
      std::uint64_t{inodes} * kRecordBytes + std::uint64_t{blocks} * kPointerBytes;
  return round_up(bytes, kSectorBytes) / kSectorBytes;
}

std::uint64_t Geometry::lba_of(BlockAddress block) const {
  return round_up(table_lba(kHeaderSectors.size()), block_sectors()) +
         std::uint64_t{block} * block_sectors();
}

std::vector<std::byte> encode(const Header& header) {
  std::vector<std::byte> sector(kSectorBytes);
  std::ranges::copy(std::as_bytes(std::span(kMagic)), sector.begin());
  store64(sector, 8, header.geometry.id);
  store64(sector, 16, header.sequence);
  store32(sector, 24, header.geometry.block_bytes);
  store32(sector, 28, header.geometry.blocks);
  store32(sector, 32, header.geometry.inodes);
  store32(sector, 36, header.table_bytes);
  store32(sector, 40, header.table_checksum);
  store32(sector, 44, header.next_generation);
  store32(sector, 48, header.clean ? 1 : 0);
  store32(sector, kChecksumOffset, crc32c(std::span(sector).first(kChecksumOffset)));
  return sector;
}

void append(const Record& record, std::vector<std::byte>& table) {
  const tree::Attributes& its = record.attributes;
  std::size_t at = table.size();
  table.resize(at + 28);
  store32(table, at, record.number);
  store16(table, at + 4, its.mode);
  store16(table, at + 6, its.links);
  store64(table, at + 8, its.size_bytes);
  store32(table, at + 16, its.user);
  store32(table, at + 20, its.group);
  store32(table, at + 24, its.generation);
  for (const tree::Timestamp& time : {its.accessed, its.modified, its.changed}) put(table, time);
  at = table.size();
  table.resize(at + 4 + record.blocks.size() * kPointerBytes);
  store32(table, at, static_cast<std::uint32_t>(record.blocks.size()));
  at += 4;
  for (const auto& [block, address] : record.blocks) {
    store32(table, at, static_cast<std::uint32_t>(block));
    store32(table, at + 4, address);
    at += kPointerBytes;
  }
}

Result<State> read_state(const ReadSectors& read, std::uint64_t device_sectors) {
  std::optional<Header> newest;
  for (std::size_t slot = 0; slot < kHeaderSectors.size(); ++slot) {
    std::array<std::byte, kSectorBytes> sector{};
    if (kHeaderSectors.at(slot) >= device_sectors) break;
    TRY(read(kHeaderSectors.at(slot), sector));
    const auto header = decode_header(sector, device_sectors);
    if (header && header->slot() == slot && (!newest || header->sequence > newest->sequence))
      newest = header;
  }
  if (!newest)
    return fail("shadow", "no valid header", "create a file system with mkfs.headcrash-shadow");
  const Geometry& geometry = newest->geometry;
  std::vector<std::byte> table(round_up(newest->table_bytes, kSectorBytes));
  TRY(read(geometry.table_lba(newest->slot()), table));
  table.resize(newest->table_bytes);
  if (crc32c(table) != newest->table_checksum)
    return fail("shadow", "the table does not match its header",
                "restore the file system from a backup");
  TRY(auto records, decode_table(table, geometry));
  return State{.header = *newest, .records = std::move(records)};
}

}  // namespace headcrash::shadow
