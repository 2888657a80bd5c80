#pragma once
// The ufs disks for in-process exploration. harness/explorer/in_process/lab_disks.h describes the
// purpose of each disk.
//
//   plain  16 MiB in blocks of 8 KiB and fragments of 1 KiB, the defaults of mkfs
//   tiny   a few hundred blocks of 2 KiB, fragments of 512 bytes; 2 or 3 groups with 2 inode blocks
//   deep   a few hundred blocks of 512 bytes, 2 groups with 8 inode blocks; single indirect blocks
//          from 6 KiB on, double from 70 KiB, triple from 8.07 MiB
//   used   like deep, but directories have been created and removed on it. For these changes, the
//          disk was mounted under Soft Updates, with two exceptions: if the scheme needs a journal,
//          the disk was mounted with a journal, which still contains the changes; if the scheme
//          needs Netra features, the disk was mounted under the first Netra scheme that needs no
//          other features.
//
// tiny, deep and used have a journal of minimum size if the scheme uses one. With inode extensions
// there are twice as many slots.

#include <optional>
#include <string_view>

#include "fs-adapters/system_under_test.h"
#include "fs-adapters/ufs/format/format.h"

namespace headcrash::ufs {

/// The properties that the scheme requires of a disk.
struct LabDiskNeeds {
  bool journal = false;
  Features features = {};
};
/// Returns nullopt for an unknown name.
std::optional<adapters::LabDisk> lab_disk(std::string_view name, const LabDiskNeeds& needs);

}  // namespace headcrash::ufs
