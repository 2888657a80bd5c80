#pragma once
// One vhost-user client and its disk, from the first message to the end of the connection.
//
//   socket ----messages----> session's thread: memory table, rings, features
//   kick descriptors ------> session's thread: takes chains
//       the disk waits:      chains -----> queue of work -----> worker threads, as many as there are requests
//       it answers at once:  the session's thread itself
//   who has executed a command (block_command.h) hands the chain back and writes the call
//   descriptor
//
// A ring without kick and call descriptors is told of and tells by messages, when the client wants
// that (VHOST_USER_PROTOCOL_F_INBAND_NOTIFICATIONS, as user-mode Linux in its time-travel mode
// does).
//
// While the session's thread serves a ring itself it asks the driver for no kicks, and interrupts
// it once when the ring is empty: a request costs no system call then. A chain is handed back in
// the memory that it was taken from, even when the client has shared another one since. A ring is
// stopped (GET_VRING_BASE) when none of its chains is in flight any more. The first error of any
// thread ends the session.

#include "plugin/base/result.h"
#include "plugin/servers/vhost/block_command.h"

namespace headcrash::vhost {

inline constexpr std::uint16_t kQueuesMax = 16;

struct SessionOptions {
  std::uint16_t queues = 4;  ///< 1 to kQueuesMax
  unsigned workers =
      512;  ///< requests of one client that the disk gets together; a thread for each, when needed
};

/// Serves the client of `socket` until it goes, which is not an error, or until `stop`, an eventfd,
/// can be read. Does not close either; blocks SIGPIPE in the calling thread. When it returns no
/// thread, mapping or descriptor of the client is left. The disk must let requests end that are
/// inside when `stop` comes. Error: what the client did wrong.
Result<void> serve_client(int socket, int stop, const Disk& disk, const SessionOptions& options);

}  // namespace headcrash::vhost
