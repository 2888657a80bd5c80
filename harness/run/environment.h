#pragma once
// What a run was made with: host and versions, kept in every run's row and shown by `headcrash
// doctor`.

#include <nlohmann/json.hpp>

namespace headcrash::run {

/// cpu, cores, memory_mib, kernel, os.
nlohmann::json host_description();

/// headcrash, nbdkit, qemu, e2fsprogs, xfsprogs (the host's, which the guest image is made of);
/// "not found" for a program that is missing.
nlohmann::json tool_versions();

}  // namespace headcrash::run
