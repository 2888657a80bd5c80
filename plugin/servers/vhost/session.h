#pragma once
// One vhost-user client and its disk, from the first message to the end of the connection.
//
//   socket ----messages----> session's thread: memory table, rings, features
//   kick descriptors ------> session's thread: takes chains
//       if the disk waits:   chains -----> work queue -----> worker threads, one per request
//       if it does not:      the session's thread itself
//   the thread that executed a command (block_command.h) returns the chain and writes the call fd
//
// For a ring without kick and call descriptors, both sides notify each other by messages, if the
// client supports this (VHOST_USER_PROTOCOL_F_INBAND_NOTIFICATIONS, like user-mode Linux in its
// time-travel mode).
//
// While the session's thread serves a ring itself, it disables kicks and interrupts the driver only
// once, when the ring is empty. A single request therefore costs no system call. A chain is handed
// back in the memory from which it was taken, even if the client has shared a new memory table
// since then. A ring stops (GET_VRING_BASE) once none of its chains is in flight. The first error
// of any thread ends the session.

#include "plugin/base/result.h"
#include "plugin/servers/vhost/block_command.h"

namespace headcrash::vhost {

inline constexpr std::uint16_t kQueuesMax = 16;

struct SessionOptions {
  std::uint16_t queues = 4;  ///< 1 to kQueuesMax
  /// Maximum number of a client's requests that the disk serves at the same time. Each of them
  /// needs a thread, which is created on demand.
  unsigned workers = 512;
};

/// Serves the client of `socket` until it disconnects (which is not an error), or until the eventfd
/// `stop` is readable. Closes neither descriptor. Blocks SIGPIPE in the calling thread. On return,
/// no thread, mapping or descriptor of the client is left. After `stop` becomes readable, the
/// caller must ensure that requests in flight end. Errors describe how the client violated the
/// protocol.
Result<void> serve_client(int socket, int stop, const Disk& disk, const SessionOptions& options);

}  // namespace headcrash::vhost
