#pragma once
// How long a request and its answer travel between a client and a thread of this process.
//
// The model says when the *client* is to have its answer; the way there costs time that no server can save:
// the system calls, the copying, waking a thread that sleeps in recv(), and waking the client, which sleeps
// too (QEMU, fio and libnbd all wait in poll). By that the server is ahead of the modelled instant
// (`lead=auto`).
//
//   client                                 this process
//     send 28 bytes ------------------------> wakes up in recv()
//     wakes up in poll(), header <--- 16 bytes - send
//     wakes up again, payload   <--- 4096 bytes - send
//
// The lower quartile of the rounds is taken: the least of them happened to find both threads on one
// processor. nbdkit sends header and payload with a call each, and a client that is asleep wakes up for both:
// with both in one call the lead came out some 15 us too short. A real client and nbdkit also have a protocol
// to follow, so that they see more than this. A client that polls without sleeping saves its waking up and
// can have an answer some 20 us early; it asks for a smaller `lead`. Origin of the number: calibration, at
// each start.

#include "plugin/nbd/clock.h"

namespace headcrash::nbd {

inline constexpr WallNs kLeadMaxNs = 100 * model::kMicrosecondNs;  ///< what `auto` takes at most

/// Takes some 90 ms and never more than about 400. 0 when it cannot be measured here. Blocks all signals in
/// its thread.
WallNs measure_transport_floor();

}  // namespace headcrash::nbd
