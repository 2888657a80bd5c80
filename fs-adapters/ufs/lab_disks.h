#pragma once
// What the disks of the in-process lab are for ufs. harness/explorer/in_process/lab_disks.h has the
// names and what they are for.
//
//   plain  16 MiB in blocks of 8 KiB and fragments of 1 KiB, as mkfs likes it
//   tiny   some hundred blocks of 2 KiB, fragments of 512 bytes; 2 or 3 groups, 2 blocks of inodes in each
//   deep   some hundred blocks of 512 bytes, 8 blocks of inodes in each of 2 groups: single indirect blocks
//          from 6 KiB on, double from 70 KiB, triple from 8.07 MiB
//   used   as deep, but it was mounted and unmounted before: directories have come and gone under Soft
//          Updates or, where the scheme wants one, a journal, which still holds them; with features
//          of Netra under the first of its schemes that needs no others
//
// tiny, deep and used have the shortest journal that there can be where the scheme keeps one. Where
// inodes have extensions there are twice as many slots.

#include <optional>
#include <string_view>

#include "fs-adapters/system_under_test.h"
#include "fs-adapters/ufs/format/format.h"

namespace headcrash::ufs {

/// What the scheme is put on the disk with.
struct LabDiskNeeds {
  bool journal = false;
  Features features = {};
};
/// Nothing: there is none of this name.
std::optional<adapters::LabDisk> lab_disk(std::string_view name, const LabDiskNeeds& needs);

}  // namespace headcrash::ufs
