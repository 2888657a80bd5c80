#pragma once
// The environment of a run: host and tool versions. It is stored with every run and shown by
// `headcrash doctor`.

#include <nlohmann/json.hpp>

namespace headcrash::run {

/// Returns cpu, cores, memory_mib, kernel and os.
nlohmann::json host_description();

/// Returns the versions of headcrash, nbdkit, qemu, e2fsprogs and xfsprogs on the host; the guest
/// image is built from the latter two. The version of a missing program is "not found".
nlohmann::json tool_versions();

}  // namespace headcrash::run
