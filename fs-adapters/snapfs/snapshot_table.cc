// Encodes and decodes the snapshot table (snapshot_table.h).
#include "fs-adapters/snapfs/snapshot_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "plugin/base/crc32c.h"
#include "plugin/base/little_endian.h"

namespace headcrash::snapfs {
using namespace little_endian;
namespace {

constexpr std::uint32_t kTableMagic = 0x5450'4e53;  // "SNPT"
constexpr std::size_t kTableHeaderBytes = 16, kEntryBytes = 80;
constexpr std::size_t kTableChecksumAt = 8;
constexpr std::size_t kNameBytes = kSnapshotNameMax + 1;

std::uint32_t checksum_of_table(std::span<const std::byte> block) {
  const std::array<std::byte, 4> zero = {};
  std::uint32_t crc = crc32c(block.first(kTableChecksumAt));
  crc = crc32c(zero, crc);
  return crc32c(block.subspan(kTableChecksumAt + 4), crc);
}

}  // namespace

bool is_snapshot_name(std::string_view name) {
  return !name.empty() && name.size() <= kSnapshotNameMax && std::ranges::all_of(name, [](char c) {
    return c > ' ' && c < '\x7f' && c != '/' && c != ',';
  });
}

std::size_t snapshots_max(std::uint32_t block_bytes) {
  return (block_bytes - kTableHeaderBytes) / kEntryBytes;
}

void encode_snapshots(std::span<const SnapshotEntry> snapshots, std::span<std::byte> block) {
  std::ranges::fill(block, std::byte{0});
  store32(block, 0, kTableMagic);
  store32(block, 4, static_cast<std::uint32_t>(snapshots.size()));
  std::size_t at = kTableHeaderBytes;
  for (const SnapshotEntry& one : snapshots) {
    const auto entry = block.subspan(at, kEntryBytes);
    std::memcpy(entry.data(), one.name.data(), one.name.size());
    store64(entry, 32, one.generation);
    store32(entry, 40, static_cast<std::uint32_t>(one.time.seconds));
    store32(entry, 44, static_cast<std::uint32_t>(one.time.nanoseconds));
    std::size_t word_at = 48;
    for (const std::uint32_t word : {one.record_map, one.inode_map, one.block_map, one.table,
                                     one.free_inodes, one.unlinked, one.next_generation}) {
      store32(entry, word_at, word);
      word_at += 4;
    }
    at += kEntryBytes;
  }
  seal_snapshots(block);
}

void seal_snapshots(std::span<std::byte> block) {
  if (load32(block, 0) == kTableMagic) store32(block, kTableChecksumAt, checksum_of_table(block));
}

Result<std::vector<SnapshotEntry>> decode_snapshots(std::span<const std::byte> block,
                                                    const Superblock& superblock) {
  const auto damaged = [](const std::string& what) {
    return fail("snapfs table of snapshots", what);
  };
  if (load32(block, 0) != kTableMagic) return damaged("no magic number");
  if (load32(block, kTableChecksumAt) != checksum_of_table(block)) return damaged("bad checksum");
  const std::uint32_t count = load32(block, 4);
  if (count > snapshots_max(superblock.block_bytes)) return damaged("too many entries");
  std::vector<SnapshotEntry> snapshots;
  for (std::size_t i = 0; i < count; ++i) {
    const auto entry = block.subspan(kTableHeaderBytes + i * kEntryBytes, kEntryBytes);
    const auto* const text = reinterpret_cast<const char*>(entry.data());
    SnapshotEntry one{.name = std::string(text, strnlen(text, kNameBytes)),
                      .generation = load64(entry, 32),
                      .time = {.seconds = static_cast<std::int32_t>(load32(entry, 40)),
                               .nanoseconds = static_cast<std::int32_t>(load32(entry, 44))},
                      .record_map = load32(entry, 48),
                      .inode_map = load32(entry, 52),
                      .block_map = load32(entry, 56),
                      .table = load32(entry, 60),
                      .free_inodes = load32(entry, 64),
                      .unlinked = load32(entry, 68),
                      .next_generation = load32(entry, 72)};
    if (!is_snapshot_name(one.name)) return damaged("invalid snapshot name");
    if (find_snapshot(snapshots, one.name)) return damaged("duplicate snapshot name " + one.name);
    for (const BlockAddress root : {one.record_map, one.inode_map, one.block_map, one.table})
      if (!superblock.holds(root)) return damaged("invalid root of snapshot " + one.name);
    if (one.free_inodes > superblock.inodes || one.unlinked > superblock.inodes)
      return damaged("invalid counts of snapshot " + one.name);
    snapshots.push_back(std::move(one));
  }
  return snapshots;
}

Result<std::vector<SnapshotEntry>> read_snapshots(const model::SectorStore& store,
                                                  const Superblock& superblock) {
  if (superblock.snapshot_table == 0) return std::vector<SnapshotEntry>();
  std::vector<std::byte> block(superblock.block_bytes);
  TRY(store.read(superblock.lba_of(superblock.snapshot_table), block));
  return decode_snapshots(block, superblock);
}

Result<SnapshotEntry> find_snapshot(std::span<const SnapshotEntry> snapshots,
                                    std::string_view name) {
  const auto found = std::ranges::find(snapshots, name, &SnapshotEntry::name);
  if (found != snapshots.end()) return *found;
  std::string names;
  for (const SnapshotEntry& one : snapshots) names += (names.empty() ? "" : ", ") + one.name;
  return fail("snapfs", fmt::format("no snapshot '{}'", name),
              names.empty() ? "there are no snapshots" : "use one of: " + names);
}

std::vector<SnapshotInfo> infos_of(std::span<const SnapshotEntry> snapshots) {
  std::vector<SnapshotInfo> infos;
  infos.reserve(snapshots.size());
  for (const SnapshotEntry& one : snapshots)
    infos.push_back(
        {.name = one.name, .generation = one.generation, .made_seconds = one.time.seconds});
  return infos;
}

Superblock superblock_of(const SnapshotEntry& snapshot, const Superblock& newest) {
  Superblock s = newest;
  s.generation = snapshot.generation;
  s.clean = true;
  s.record_map = snapshot.record_map;
  s.inode_map = snapshot.inode_map;
  s.block_map = snapshot.block_map;
  s.snapshot_table = 0;
  s.free_inodes = snapshot.free_inodes;
  s.unlinked = snapshot.unlinked;
  s.next_generation = snapshot.next_generation;
  s.time = snapshot.time;
  return s;
}

}  // namespace headcrash::snapfs
