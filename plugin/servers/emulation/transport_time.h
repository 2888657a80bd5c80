#pragma once
// Measures how long a request and its answer take to travel between a client and a thread of this
// process.
//
// The model defines when the *client* receives its answer. The transport has an unavoidable cost:
// system calls, copying, waking a thread that is sleeping in recv(), and waking the client, which
// is also sleeping (QEMU, fio and libnbd all wait in poll). With `lead=auto`, the server answers
// earlier than the modelled instant by that cost.
//
//   client                                 this process
//     send 28 bytes ------------------------> wakes up in recv(), waits 8 ms as a drive would
//     wakes up in poll(), header <--- 16 bytes - send
//     wakes up again, payload   <--- 4096 bytes - send
//
// Both sides sleep as long as they would with a drive. A processor that has slept for 10 ms takes
// about 40 us longer to wake up than one that has slept for 1 ms, and its caches are cold. nbdkit
// sends header and payload with separate calls, and a sleeping client wakes up for both.
//
// Each batch yields a median, so half of the answers are slightly early and half slightly late. The
// result is the minimum over several batches, because other load can only add time. kProtocolNs is
// the additional time that nbdkit and libnbd take; a polling client saves about as much. The server
// calibrates the cost at each start.

// With vhost-user, the path is different. The client writes an eventfd; a session's thread wakes up
// in poll() and passes the request to a worker. The worker waits as long as a drive would, and then
// writes the eventfd that the client is polling.

#include <cstdint>
#include <stop_token>

#include "plugin/servers/emulation/clock.h"

namespace headcrash::emulation {

/// The delay that nbdkit 1.32 adds to each answer, as seen by libnbd. Ten runs measured 15 to 35
/// us. Each run had 200 reads of 20 ms, on 2 virtual processors. Origin: calibration, once.
inline constexpr WallNs kProtocolNs = 25 * model::kMicrosecondNs;
inline constexpr WallNs kLeadMaxNs = 200 * model::kMicrosecondNs;  ///< upper limit for `auto`

enum class Transport : std::uint8_t { nbd, vhost_user };

/// Measures for about 0.8 s, or less if stopped. Returns 0 if the time cannot be measured. Blocks
/// all signals in the calling thread.
WallNs measure_transport_time(Transport transport, const std::stop_token& stopped = {});

}  // namespace headcrash::emulation
