#pragma once
// How long a request and its answer travel between a client and a thread of this process.
//
// The model says when the *client* is to have its answer; the way there costs time that no server
// can save: the system calls, the copying, waking a thread that sleeps in recv(), and waking the
// client, which sleeps too (QEMU, fio and libnbd all wait in poll). By that the server is ahead of
// the modelled instant (`lead=auto`).
//
//   client                                 this process
//     send 28 bytes ------------------------> wakes up in recv(), waits 8 ms as a drive does
//     wakes up in poll(), header <--- 16 bytes - send
//     wakes up again, payload   <--- 4096 bytes - send
//
// Both sides sleep for as long as beside a drive: a processor that has slept for 10 ms wakes up
// some 40 us later than one that has slept for 1 ms, and its caches are cold. nbdkit sends header
// and payload with a call each, and a client that is asleep wakes up for both.
//
// The result is a median, so that half of the answers come somewhat early and half somewhat late;
// of several batches the least one counts, because a busy neighbour only ever adds. kProtocolNs is
// what nbdkit and libnbd add, a client that polls takes about as much less. Origin of the number:
// calibration, at each start.

// Over vhost-user the way is another one: the client writes an eventfd, a session's thread wakes up
// in poll() and hands the request to a worker, who waits as a drive does and writes the eventfd
// that the client polls.

#include <cstdint>
#include <stop_token>

#include "plugin/servers/emulation/clock.h"

namespace headcrash::emulation {

/// By how much libnbd saw the answers of nbdkit 1.32 later than this ping-pong does: 15 to 35 us in
/// ten runs of 200 reads of 20 ms on 2 virtual processors. Origin: calibration, once.
inline constexpr WallNs kProtocolNs = 25 * model::kMicrosecondNs;
inline constexpr WallNs kLeadMaxNs = 200 * model::kMicrosecondNs;  ///< what `auto` takes at most

enum class Way : std::uint8_t { nbd, vhost_user };

/// Takes some 0.8 s, less when it is stopped. 0 when it cannot be measured here. Blocks all signals
/// in its thread.
WallNs measure_transport_time(Way way, const std::stop_token& stopped = {});

}  // namespace headcrash::emulation
