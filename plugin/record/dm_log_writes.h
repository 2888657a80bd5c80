#pragma once
// Import and export of logs of Linux's dm-log-writes target and QEMU's blklogwrites driver.
//
// The format (Documentation/admin-guide/device-mapper/log-writes.rst and the target's own
// structures), all little-endian, in units of the log's sector size:
//
//   | super | entry | data ... | entry | data ... | entry (flush) | entry (mark) | ...
//     1 unit  1 unit nr_sectors  1 unit
//
//   super:  u64 magic 0x6a736677736872, u64 version 1, u64 number of entries, u32 sector size
//   entry:  u64 sector, u64 nr_sectors, u64 flags (FLUSH 1, FUA 2, DISCARD 4, MARK 8, METADATA 16),
//           u64 data_len; a mark's text follows in the same unit
//
// A discard has no data. Entries are in completion order: a write is logged when it completes, and
// a flush follows the writes that had completed when it was submitted. Entries have no times.
//
// Import: each entry becomes a SUBMIT and its ACK, one microsecond apart, so a flush covers the
// same writes as in the log. The recording has no MEDIA events, which its header states. A flush
// with data becomes a flush and a write.
//
// Export of one device: a write is placed at its acknowledgement and a flush at its submission, so
// a flush follows exactly the writes that it covers. Like the target, the export omits requests
// that were not acknowledged as successful. (The target logs a write only when a flush covers it.
// In the target's log, such a write also precedes the flush, but it follows a FUA write that
// completed later. The export keeps completion order.) Zeroes written without data are logged as
// data, since the format cannot express them. Marks longer than 479 bytes are truncated, which the
// target does too.

#include <filesystem>
#include <functional>
#include <span>

#include "plugin/record/recording.h"

namespace headcrash::record {

struct DmLogSummary {
  std::uint64_t entries = 0, writes = 0, flushes = 0, discards = 0, marks = 0;
  std::uint64_t data_bytes = 0;
  /// export: number of writes omitted because they were never acknowledged
  std::uint64_t unacknowledged = 0;
  std::uint64_t marks_cut = 0;  ///< export: marks whose text was truncated
  std::uint64_t uncounted = 0;  ///< import: entries that the super block does not count
  bool without_super = false;   ///< import: the super block was never written
};

/// Creates the recording `to`. Its device is named "imported" and has as many sectors as the log
/// needs, but at least `sectors_min`. If an entry that the super block counts is missing or
/// invalid, the error names the entry and its offset, and `to` is removed. If the writer was
/// killed, the log may have entries that the super block does not count; they are imported up to
/// the first incomplete one.
Result<DmLogSummary> import_dm_log_writes(const std::filesystem::path& from,
                                          const std::filesystem::path& to,
                                          std::uint64_t sectors_min = 1);

/// Supplies the device's contents before the recording. Calls `put` for each contiguous range of
/// contents, in ascending order.
using DmLogPut = std::function<Result<void>(std::uint64_t lba, std::span<const std::byte> bytes)>;
using DmLogBase = std::function<Result<void>(const DmLogPut& put)>;

/// Creates the log `to` from one device of the recording `from`. If the recording's tail is damaged
/// or incomplete, the events before it are exported. If `base` is given, the log begins with writes
/// of the base's contents and of the device's last sector (which conveys the device's size),
/// followed by a flush.
Result<DmLogSummary> export_dm_log_writes(const std::filesystem::path& from, model::DeviceId device,
                                          const std::filesystem::path& to,
                                          const DmLogBase& base = {});

}  // namespace headcrash::record
