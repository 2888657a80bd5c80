#pragma once
// One vhost-user client and its disk, from the first message to the end of the connection.
//
//   socket ----messages----> session's thread: memory table, rings, features
//   kick descriptors ------> session's thread: takes chains -----> queue of work
//   worker threads: execute a command (block_command.h), hand the chain back, write the call descriptor
//
// A chain is handed back in the memory that it was taken from, even when the client has shared another one
// since. A ring is stopped (GET_VRING_BASE) when none of its chains is in flight any more. The first error of
// any thread ends the session.

#include "plugin/base/result.h"
#include "plugin/vhost/block_command.h"

namespace headcrash::vhost {

inline constexpr std::uint16_t kQueuesMax = 16;

struct SessionOptions {
  std::uint16_t queues = 4;  ///< 1 to kQueuesMax
  unsigned workers = 64;     ///< requests of one client that the disk gets together
};

/// Serves the client of `socket` until it goes, which is no error, or until `stop`, an eventfd, can be read.
/// Does not close either. When it returns no thread, mapping or descriptor of the client is left. The disk
/// must let requests end that are inside when `stop` comes. Error: what the client did wrong.
Result<void> serve_client(int socket, int stop, const Disk& disk, const SessionOptions& options);

}  // namespace headcrash::vhost
