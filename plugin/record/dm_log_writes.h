#pragma once
// Logs of Linux's dm-log-writes target and of QEMU's blklogwrites driver, into recordings and out
// of them.
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
// A discard has no data. Order is that of completion: a write is in the log when it has completed,
// and a flush stands behind the writes that had completed when it was submitted. There are no
// times.
//
// Import: each entry becomes a SUBMIT and its ACK, one microsecond apart, so that every rule about
// what a flush covers holds. The recording has no MEDIA events and its header says so. A flush that
// carries data becomes a flush and a write.
//
// Export, of one device: a write has its place at its acknowledgement; a flush at its submission,
// which puts it behind exactly the writes that it covers. What was not acknowledged as done is left
// out, as the target does. (The target itself logs a write only when a flush covers it, so that it
// too stands before the flush, but behind a FUA write that completed later; we keep the order of
// completion.) Zeroes that were asked for without data are logged as data, since the format has no
// word for them. Marks longer than 479 bytes are cut there, as the target cuts them.

#include <filesystem>
#include <functional>
#include <span>

#include "plugin/record/recording.h"

namespace headcrash::record {

struct DmLogSummary {
  std::uint64_t entries = 0, writes = 0, flushes = 0, discards = 0, marks = 0;
  std::uint64_t data_bytes = 0;
  std::uint64_t unacknowledged = 0;  ///< export: writes that were left out
  std::uint64_t marks_cut = 0;       ///< export
  std::uint64_t uncounted = 0;       ///< import: entries that the super block does not count
  bool without_super = false;        ///< import: the super block was never written
};

/// Makes the recording `to`. The device has as many sectors as the log needs, `sectors_min` at
/// least, and the name "imported". A counted entry that is missing or invalid is refused, naming
/// the entry and its offset, and nothing is left of `to`. A killed writer leaves entries behind the
/// counted ones: they are imported up to the first that is incomplete.
Result<DmLogSummary> import_dm_log_writes(const std::filesystem::path& from,
                                          const std::filesystem::path& to,
                                          std::uint64_t sectors_min = 1);

/// What the device held before the recording began: calls back for each run of it, ascending.
using DmLogPut = std::function<Result<void>(std::uint64_t lba, std::span<const std::byte> bytes)>;
using DmLogBase = std::function<Result<void>(const DmLogPut& put)>;

/// Makes the log `to` from what one device of the recording `from` did. A recording with a tail
/// that is not whole is exported up to it. With a `base` the log begins with writes of it, and of
/// the device's last sector, which tells its size, and a flush.
Result<DmLogSummary> export_dm_log_writes(const std::filesystem::path& from, model::DeviceId device,
                                          const std::filesystem::path& to,
                                          const DmLogBase& base = {});

}  // namespace headcrash::record
