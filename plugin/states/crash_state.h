#pragma once
// A crash state: one image that a power cut could have left, named in a few words.
//
//   time:     ..W1..W2..F..ack W1..ack W2..W3..ack F..W4..W5..ack W4..|            F: flush, |: the cut
//   durable at the cut   what was acknowledged before a flush (or FUA) was submitted that is itself complete:
//                        W1? no, it was acknowledged after F was submitted
//   unflushed at the cut     everything else that was submitted: each may be there, or not, or in part
//
// A state says where the cut is (how many events of the recording came before it) and what became
// of the unflushed writes. Its name is what exports, databases, file names and command lines use;
// equal states have equal names.
//
//   p1234             physical: what the emulated medium held after 1234 events
//   w1234             all unflushed writes are there, in the order they were submitted
//   w1234-            none of them is ("lose-all")
//   w1234-17.21       all but requests 17 and 21
//   w1234+17.21       only these
//   w1234+17.21~23:2x6    and of request 23 only sectors [2, 8), counted from its first
//   w1234!55-         the cache lied: flushes (and FUA) from request 55 on did nothing
//   m1234:3@1201.5@1190   physical, but device 3 stopped already at event 1201 and device 5 at 1190: members
//                         of an array that do not stop together
//   a1234-17.21       as w1234-17.21 (and so with every other form), of all disks of the machine at once
//
// In a machine with several media, requests of the device that the state is about are meant: the
// first medium, or the one named by a "d2" in front (w1234 and d0w1234 are the same); all other
// media are as in p1234. Several disks behind one cord (a file system and its log) each lose their
// own unflushed writes at the one cut: that is what the names with an a tell, requests being
// numbered through all disks. A disk's flush covers what was written to that disk, and none of the
// others. Characters: letters, digits and .,:+-~@! only.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plugin/base/result.h"
#include "plugin/model/core/device.h"

namespace headcrash::states {

/// Part of a write that was in flight: sectors [first, first + count) of it are new, the others
/// old.
struct TornWrite {
  model::RequestId request = 0;
  std::uint32_t first = 0, count = 0;
  bool operator==(const TornWrite&) const = default;
};

struct CrashState {
  enum class Base : std::uint8_t { physical, writes, members };
  Base base = Base::writes;
  model::DeviceId device = 0;  ///< writes: whose requests are meant
  bool all_disks =
      false;  ///< writes: those of every disk (RunHistory::disks()); `device` is 0 then
  std::uint64_t event = 0;  ///< the cut: events of the recording before it
  /// writes: what became of the unflushed ones. `listed` are lost (keep_others) or kept
  /// (!keep_others); ascending.
  bool keep_others = true;
  std::vector<model::RequestId> listed;
  std::vector<TornWrite> torn;                ///< ascending by request; not in `listed`
  std::optional<model::RequestId> lies_from;  ///< flushes and FUA from this request on did nothing
  std::vector<std::pair<model::DeviceId, std::uint64_t>>
      stopped;  ///< members: device and its own last event

  bool operator==(const CrashState&) const = default;
};

std::string format(const CrashState& state);
/// Errors name the character that is wrong. At most kStateNameMax bytes.
Result<CrashState> parse_crash_state(std::string_view name);
inline constexpr std::size_t kStateNameMax = 2000;

}  // namespace headcrash::states
