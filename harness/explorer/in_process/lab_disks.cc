// The table of disks (lab_disks.h).
#include "harness/explorer/in_process/lab_disks.h"

#include <algorithm>

namespace headcrash::in_process {
namespace {

constexpr std::uint64_t kKiB = 1 << 10;

/// Four transactions of two operations, as journal_fragments_min() has it for two groups, in whole blocks.
constexpr std::uint64_t shortest_journal(std::uint64_t block_bytes) {
  return std::uint64_t{4 * 18 + 1} * block_bytes;
}

LabDisk small_disk(std::string name, std::uint32_t block_bytes, std::uint64_t group_bytes, int groups) {
  LabDisk disk{.name = std::move(name)};
  disk.mkfs = {.block_bytes = block_bytes,
               .fragment_bytes = 512,
               .inodes_per_group = 32,
               .group_bytes = group_bytes,
               .reserve_percent = 0};
  disk.bytes = group_bytes * static_cast<std::uint64_t>(groups);
  disk.mkfs_with_journal = disk.mkfs;
  // A journal lies in one group, and leaves some room there.
  disk.mkfs_with_journal.group_bytes =
      std::max(group_bytes, shortest_journal(block_bytes) + group_bytes * 3 / 4) / block_bytes * block_bytes;
  disk.mkfs_with_journal.journal_bytes = shortest_journal(block_bytes);
  disk.bytes_with_journal = disk.mkfs_with_journal.group_bytes * 2;
  return disk;
}

std::vector<LabDisk> whole_table() {
  LabDisk plain{.name = std::string(kPlainDisk), .bytes = 16 << 20, .bytes_with_journal = 16 << 20};
  LabDisk used = small_disk("used", 512, 128 * kKiB, 2);
  used.used = true;
  return {std::move(plain), small_disk("tiny", 2048, 96 * kKiB, 3), small_disk("deep", 512, 128 * kKiB, 2),
          std::move(used)};
}

}  // namespace

const std::vector<LabDisk>& lab_disks() {
  static const std::vector<LabDisk> kAll = whole_table();
  return kAll;
}

Result<LabDisk> find_lab_disk(std::string_view name) {
  const auto& table = lab_disks();
  const auto found = std::ranges::find(table, name, &LabDisk::name);
  if (found != table.end()) return *found;
  std::string names;
  for (const LabDisk& one : table) names += (names.empty() ? "" : ", ") + one.name;
  return fail("disk", "there is none called '" + std::string(name) + "'", "there are " + names);
}

}  // namespace headcrash::in_process
