// Sizes and options of the test disks (lab_disks.h).
#include "fs-adapters/ufs/lab_disks.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "fs-adapters/ufs/core/file_system.h"
#include "fs-adapters/ufs/format/mkfs_settings.h"
#include "fs-adapters/ufs/schemes/scheme_variants.h"

namespace headcrash::ufs {
namespace {

constexpr std::uint64_t kKiB = 1 << 10;
constexpr std::uint64_t kPlainBytes = 16 << 20, kPlainLogBytes = 1 << 20;

/// Returns the minimum size of a journal, in bytes. The journal has room for four operations, as in
/// journal_fragments_min().
constexpr std::uint64_t shortest_journal(std::uint64_t block_bytes, std::uint64_t groups = 2) {
  return (4 * (16 + groups) + 1) * block_bytes;
}

void add_features(const Features& features, adapters::Settings& mkfs) {
  for (const FeatureOption& option : feature_options())
    if (features.*option.feature) mkfs[std::string(option.name)] = "1";
  if (features.fast_check && !features.foreign_block) mkfs["foreign-block"] = "0";
}

adapters::LabDisk small_disk(std::uint64_t block_bytes, std::uint64_t group_bytes,
                             std::uint64_t groups, const LabDiskNeeds& needs) {
  adapters::LabDisk disk;
  add_features(needs.features, disk.mkfs);
  if (needs.features.external_journal) {
    disk.log_bytes = shortest_journal(block_bytes, groups);
    disk.mkfs["external-journal"] = std::to_string(disk.log_bytes);
  } else if (needs.journal) {
    // The journal must fit in one group, and part of this group must remain free.
    group_bytes = std::max(group_bytes, shortest_journal(block_bytes) + group_bytes * 3 / 4) /
                  block_bytes * block_bytes;
    groups = 2;
    disk.mkfs["journal-size"] = std::to_string(shortest_journal(block_bytes));
  }
  disk.mkfs["block-size"] = std::to_string(block_bytes);
  disk.mkfs["fragment-size"] = "512";
  disk.mkfs["inodes-per-group"] = needs.features.extensions() ? "64" : "32";
  disk.mkfs["group-size"] = std::to_string(group_bytes);
  disk.mkfs["reserve"] = "0";
  disk.bytes = group_bytes * groups;
  return disk;
}

/// Returns the name of the first Netra scheme that is not a control and that needs no feature
/// outside `features`.
std::string netra_scheme(const Features& features) {
  for (const SchemeVariant& variant : scheme_variants())
    if (variant.mount.scheme == SchemeKind::netra && !variant.control &&
        has_features(features, variant.mount.needs))
      return variant.name;
  return {};
}

}  // namespace

std::optional<adapters::LabDisk> lab_disk(std::string_view name, const LabDiskNeeds& needs) {
  if (name == "plain") {
    adapters::LabDisk disk{.bytes = kPlainBytes};
    add_features(needs.features, disk.mkfs);
    if (needs.features.external_journal) {
      disk.log_bytes = kPlainLogBytes;
      disk.mkfs["external-journal"] = std::to_string(kPlainLogBytes);
    }
    return disk;
  }
  if (name == "tiny") return small_disk(2048, 96 * kKiB, 3, needs);
  if (name != "deep" && name != "used") return {};
  adapters::LabDisk disk = small_disk(512, 128 * kKiB, 2, needs);
  if (name == "used")
    disk.used_by = needs.features.external_journal ? "journal-external"
                   : needs.journal                 ? "journal"
                   : needs.features.netra()        ? netra_scheme(needs.features)
                                                   : "soft-updates";
  return disk;
}

}  // namespace headcrash::ufs
