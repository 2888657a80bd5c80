#pragma once
// The `inspect` command (PROTOCOL.md): examines one recovered file system in one request.
//
//   verify the disk -> mount -> dump -> unmount [-> mount -> dump -> unmount, same tree]
//
// With `use`, the last cycle uses and empties the file system (use.h) before it unmounts.
//
// A single request saves time: the explorer examines many states per second, and each request costs
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

/// Executes an `inspect` request and sends its events to `send`. If a file system cannot be
/// mounted, the answer reports that. If the disk is wrong or the tree endless, the request is
/// refused.
tl::expected<nlohmann::json, InspectRefusal> inspect(
    const nlohmann::json& request, const std::function<void(nlohmann::json)>& send);

}  // namespace headcrash::guest
