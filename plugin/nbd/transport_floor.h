#pragma once
// How long a request and its answer travel at the very least between a client and a thread of this process.
//
// The model says when the *client* is to have its answer; the way there costs time that no server can save:
// the system calls, the copying, and waking a thread that sleeps in recv(). What is certain to be lost on the
// way, and only that, the server may be ahead of the modelled instant (`lead=auto`).
//
//   fastest imaginable client (polls)      this process
//     send 28 bytes ------------------------> wakes up in recv()
//     polls, has all  <--------- 16 + 4096 bytes ---------- send
//
// The least of many rounds is taken: a real client also has a protocol to follow, nbdkit has one, and a
// client that sleeps is woken up, so that all of them see more than this. Origin of the number: calibration,
// at each start.

#include "plugin/nbd/clock.h"

namespace headcrash::nbd {

inline constexpr WallNs kLeadMaxNs = 40 * model::kMicrosecondNs;  ///< what `auto` takes at most

/// Takes some 10 ms and never more than about 100. 0 when it cannot be measured here. Blocks all signals in
/// its thread.
WallNs measure_transport_floor();

}  // namespace headcrash::nbd
