#pragma once
// A checkpoint: the extent index of every medium at one point of the log, and the values that a
// server needs to continue the log from that point. It is the payload of a log event (event.h):
//
//   u64 events so far | i64 time of the last | u64 last request id | u64 devices | for each device:
//       u64 extents | extents of 24 bytes: u64 lba, u64 location (ExtentLocation), u64 sectors

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "plugin/record/extent_index.h"
#include "plugin/record/recording.h"

namespace headcrash::record {

struct Checkpoint {
  std::uint64_t events = 0;
  model::TimeNs last_at = 0;
  model::RequestId last_request = 0;
};

/// Returns nullopt if the encoded checkpoint would exceed the maximum size of an event.
std::optional<std::vector<std::byte>> encode_checkpoint(const Checkpoint& checkpoint,
                                                        std::span<const ExtentIndex> media);

/// Fills the indexes, which must be empty. Returns nullopt if the payload does not match the
/// devices, or if it refers to bytes at or beyond `log_bytes`.
std::optional<Checkpoint> decode_checkpoint(std::span<const std::byte> payload,
                                            std::uint64_t log_bytes, std::span<ExtentIndex> media);

}  // namespace headcrash::record
