#pragma once
// The `inspect` command (PROTOCOL.md): examines a recovered file system in a single request.
//
//   verify the disk -> mount -> dump -> unmount [-> mount -> dump -> unmount: same tree]
//
// With `use`, the last cycle also uses and empties the file system (use.h) before the unmount.
//
// A single request saves time: the explorer examines many states per second, and each request takes
// one or two milliseconds.

#include <functional>
#include <nlohmann/json.hpp>

#include "fs-adapters/vfs.h"

namespace headcrash::guest {

struct InspectRefusal {
  std::string what;
  Errno error;
  bool unknown_type = false;  ///< the kernel does not know the file system type
};

/// Executes an `inspect` request and passes its events to `send`. Refuses the request if the disk
/// is not the one that the host has loaded, or if the tree is too large. If the mount fails,
/// returns an answer that contains the error.
tl::expected<nlohmann::json, InspectRefusal> inspect(
    const nlohmann::json& request, const std::function<void(nlohmann::json)>& send);

}  // namespace headcrash::guest
