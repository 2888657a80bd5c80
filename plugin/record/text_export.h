#pragma once
// Exports recordings as text for other tools.
//
// CSV: one line per event, after a line of column names:
//
//   event,offset,kind,device,time_ns,request,op,fua,lba,sectors,result,bytes,bytes_at,text
//
//   event     ordinal in the recording, from 0      offset    file offset of the event
//   kind      submit ack media mark fault power opened
//   device    its name; empty for mark, power, opened
//   op, fua   of a submit: read write flush trim write_zeroes; 0 or 1
//   result    of an ack: ok power_lost medium_error out_of_range store_error device_failed; of a
//             media: written torn unreadable misdirected corrupted, or moved if only the log moved
//             the bytes and the medium did not change; of a power: on off
//   bytes     of a submit or media, the place of its data: none (no data is recorded), referred (in
//             an earlier event), zeroes (all bytes are zero) or carried (in this event)
//   bytes_at  file offset of these bytes, else empty
//   text      of a mark or fault, quoted as in RFC 4180
//
// blkparse: lines like the default output of blkparse(1), which iowatcher, seekwatcher and many
// scripts parse:
//
//   259,0    0        1     0.000012345     1  Q   W 2048 + 8 [headcrash]
//   dev     cpu  sequence     seconds      pid action rwbs sector + sectors [process]
//
// The minor device number is the device id. A SUBMIT becomes Q and D (queued, and sent to the
// device), a successful ACK a C, a mark a message (m). Failed requests have no C. The format cannot
// represent MEDIA events.

#include <cstdio>
#include <filesystem>

#include "plugin/record/recording.h"

namespace headcrash::record {

const char* name_of(Kind kind);
const char* name_of(Bytes bytes);
const char* name_of(model::Op op);
const char* name_of(model::Status status);
const char* name_of(model::MediaWrite::Outcome outcome);

struct TextSummary {
  std::uint64_t events = 0, lines = 0;
  /// Set if the recording has an incomplete or damaged tail; the events before it are exported.
  std::optional<Error> tail_error;
};

/// These functions create the file `to`. They fail if the file exists. If another error occurs,
/// they remove the file.
Result<TextSummary> export_csv(const std::filesystem::path& from, const std::filesystem::path& to);
Result<TextSummary> export_blkparse(const std::filesystem::path& from,
                                    const std::filesystem::path& to);

}  // namespace headcrash::record
