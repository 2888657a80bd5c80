#pragma once
// A crash state: an image that a power cut could have left, with a short name.
//
//   time:     ..W1..W2..F..ack W1..ack W2..W3..ack F..W4..W5..ack W4..|     F: flush, |: the cut
//   durable at the cut   writes acknowledged before the submission of a completed flush (or FUA):
//                        not W1, which was acknowledged after F was submitted
//   unflushed at the cut     each other submitted write: present, absent or partly present
//
// A state consists of the cut (the number of events before it) and the fate of each unflushed
// write. Exports, databases, file names and command lines refer to a state by its name. Equal
// states have equal names.
//
//   p1234             physical: the contents of the emulated medium after 1234 events
//   w1234             all unflushed writes are present, in submission order
//   w1234-            no unflushed write is present ("lose-all")
//   w1234-17.21       all unflushed writes except requests 17 and 21
//   w1234+17.21       only requests 17 and 21
//   w1234+17.21~23:2x6    also sectors [2, 8) of request 23, counted from its first sector
//   w1234!55-         the cache lied: flushes (and FUA) from request 55 on had no effect
//   m1234:3@1201.5@1190   physical, but device 3 stopped earlier, at event 1201, and device 5 at
//                         1190: members of an array that do not stop together
//   a1234-17.21       as w1234-17.21, but for all disks (likewise for every other form)
//
// If a machine has several media, the requests are those of one device: the first medium, or the
// one in a "d2" prefix (w1234 and d0w1234 are equal). All other media are as in p1234. Several
// disks on one power cord (a file system and its log) each lose their own unflushed writes at one
// cut; names that begin with `a` describe such states, with requests numbered across all disks. A
// flush covers only writes to its own disk. Names contain only letters, digits and .,:+-~@!.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plugin/base/result.h"
#include "plugin/model/core/device.h"

namespace headcrash::states {

/// An unflushed write that is partly present: sectors [first, first + count) are new, the other
/// sectors are old.
struct TornWrite {
  model::RequestId request = 0;
  std::uint32_t first = 0, count = 0;
  bool operator==(const TornWrite&) const = default;
};

struct CrashState {
  enum class Base : std::uint8_t { physical, writes, members };
  Base base = Base::writes;
  /// For Base::writes: the device whose unflushed requests are kept or lost, unless all_disks is
  /// set.
  model::DeviceId device = 0;
  /// For Base::writes: if true, the requests are those of every disk (RunHistory::disks()), and
  /// `device` is 0.
  bool all_disks = false;
  std::uint64_t event = 0;  ///< the cut: the number of events that precede it
  /// For Base::writes: the fates of the unflushed writes. If keep_others is true, the writes in
  /// `listed` (ascending) are lost and all others are kept; otherwise, only the writes in `listed`
  /// are kept.
  bool keep_others = true;
  std::vector<model::RequestId> listed;
  std::vector<TornWrite> torn;  ///< ascending by request; none of these is in `listed`
  /// Flushes and FUA writes from this request on had no effect; nullopt if no flush lied.
  std::optional<model::RequestId> lies_from;
  /// For Base::members: the devices that stopped before the cut, and the events at which they
  /// stopped.
  std::vector<std::pair<model::DeviceId, std::uint64_t>> stopped;

  bool operator==(const CrashState&) const = default;
};

std::string format(const CrashState& state);
/// Parses a name of at most kStateNameMax bytes. An error gives the position of the first invalid
/// character.
Result<CrashState> parse_crash_state(std::string_view name);
inline constexpr std::size_t kStateNameMax = 2000;

}  // namespace headcrash::states
