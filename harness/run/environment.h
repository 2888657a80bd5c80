#pragma once
// The environment of a run: a description of the host, and the versions of tools. It is stored with
// every run and shown by `headcrash doctor`.

#include <nlohmann/json.hpp>
#include <string>

namespace headcrash::run {

/// Returns a description of the host with the keys cpu, cores, memory_mib, kernel and os.
nlohmann::json host_description();

/// Returns the versions of headcrash, nbdkit, qemu, e2fsprogs and xfsprogs on the host. (The guest
/// image contains the host's e2fsprogs and xfsprogs.) If a program is missing, its version is "not
/// found".
nlohmann::json tool_versions();

/// Returns true if the program is in one of the directories in PATH, or in /usr/sbin or /sbin.
bool is_in_path(const std::string& program);

}  // namespace headcrash::run
