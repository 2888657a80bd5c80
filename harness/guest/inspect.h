#pragma once
// The `inspect` command (PROTOCOL.md): looks at one recovered file system in one request.
//
//   disk is the one that is meant -> mount -> dump -> unmount [-> mount -> dump -> unmount, the
//   same tree]
//
// With `use` the last of them uses and empties the file system (use.h) before it unmounts.
//
// The crash lab looks at many states a second; each request of its own would cost it a millisecond
// or two.

#include <functional>
#include <nlohmann/json.hpp>

#include "fs-adapters/vfs.h"

namespace headcrash::guest {

struct InspectRefusal {
  std::string what;
  Errno error;
  bool unknown_type = false;  ///< of a file system
};

/// `request` as PROTOCOL.md has it; events go to `send`. A file system that cannot be mounted is an
/// answer; a refusal is a disk that is not the one meant, or a tree that has no end.
tl::expected<nlohmann::json, InspectRefusal> inspect(
    const nlohmann::json& request, const std::function<void(nlohmann::json)>& send);

}  // namespace headcrash::guest
