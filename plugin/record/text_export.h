#pragma once
// Recordings as text, for other people's tools.
//
// CSV: one line an event, after a line of names:
//
//   event,offset,kind,device,time_ns,request,op,fua,lba,sectors,result,bytes,bytes_at,text
//
//   event     ordinal in the recording, from 0      offset    where it begins in the file
//   kind      submit ack media mark fault power opened
//   device    its name; empty for mark, power, opened
//   op, fua   of a submit: read write flush trim write_zeroes; 0 or 1
//   result    of an ack: ok power_lost medium_error out_of_range store_error device_failed; of a media:
//             written torn unreadable misdirected corrupted, "moved" when only the log moved the
//             bytes; of a
//             power: on off
//   bytes     of a submit or media: none referred zeroes carried; a submit with data carries it
//   bytes_at  offset in the file of these bytes, else empty
//   text      of a mark or fault, quoted as in RFC 4180
//
// blkparse: lines as blkparse(1) prints them without options, which iowatcher, seekwatcher and many
// scripts read:
//
//   259,0    0        1     0.000012345     1  Q   W 2048 + 8 [headcrash]
//   dev     cpu  sequence     seconds      pid action rwbs sector + sectors [process]
//
// The device number's minor is the device id. A SUBMIT becomes Q and D (queued, and given to the
// device), a good ACK a C, a mark a message (m). What failed has no C. MEDIA events have no place
// in this format.

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
  std::optional<Error>
      tail_error;  ///< the recording does not end well; what is before was exported
};

/// Both make the file `to`, refuse an existing one, and leave nothing of it when they fail.
Result<TextSummary> export_csv(const std::filesystem::path& from, const std::filesystem::path& to);
Result<TextSummary> export_blkparse(const std::filesystem::path& from,
                                    const std::filesystem::path& to);

}  // namespace headcrash::record
