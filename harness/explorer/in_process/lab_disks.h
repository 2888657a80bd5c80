#pragma once
// The disks of the in-process lab, by name. What a workload can show depends on the disk: blocks are used
// again where there are few, indirect blocks are reached where blocks are small, a journal goes round where
// it is as short as may be.
//
//   plain  16 MiB in blocks of 8 KiB and fragments of 1 KiB, as mkfs likes it
//   tiny   some hundred blocks of 2 KiB, fragments of 512 bytes; 2 or 3 groups, 2 blocks of inodes in each
//   deep   some hundred blocks of 512 bytes, 8 blocks of inodes in each of 2 groups: single indirect blocks
//          from 6 KiB on, double from 70 KiB, triple from 8.07 MiB
//   used   as deep, but it was mounted and unmounted before: directories have come and gone under Soft
//          Updates or, where the scheme wants one, a journal, which still holds them
//
// tiny, deep and used have the shortest journal that there can be where the scheme keeps one.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fs-adapters/ufs/mkfs.h"
#include "fs-adapters/ufs/scheme_variants.h"

namespace headcrash::in_process {

struct LabDisk {
  std::string name;
  std::uint64_t bytes = 0, bytes_with_journal = 0;
  ufs::MkfsOptions mkfs, mkfs_with_journal;
  bool used = false;
};

inline constexpr std::string_view kPlainDisk = "plain";

const std::vector<LabDisk>& lab_disks();
/// Errors tell all names.
Result<LabDisk> find_lab_disk(std::string_view name);
/// True for schemes that are put on the disk with a journal.
inline bool wants_journal(const ufs::SchemeVariant& scheme) {
  return scheme.mount.scheme == ufs::SchemeKind::journal;
}

}  // namespace headcrash::in_process
