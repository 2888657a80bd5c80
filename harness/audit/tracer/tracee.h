#pragma once
// Registers, memory and paths of a thread that ptrace(2) has stopped.

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "harness/audit/tracer/calls.h"

namespace headcrash::audit {

/// Returns the system call that the thread is about to execute. The thread must be stopped at the
/// entry to the call. Returns nullopt if the thread is gone.
std::optional<SystemCall> call_at_entry(pid_t thread);
/// Returns the result of the system call. The thread must be stopped at the exit from the call.
std::int64_t result_at_exit(pid_t thread);
/// Replaces the system call number. The thread must be stopped at the entry to a system call.
void set_call(pid_t thread, std::uint64_t number);
void set_argument(pid_t thread, std::size_t index, std::uint64_t value);

/// Returns the flags of the `open_how` structure at this address. openat2(2) takes such a structure
/// as an argument.
std::uint64_t open_how_flags(pid_t thread, std::uint64_t address);

/// Returns the path of a descriptor; empty if it is not a file with a path.
std::string path_of_descriptor(pid_t thread, std::int64_t descriptor);
/// Returns the absolute path of the file whose name is at `address`. A relative name is resolved
/// against the descriptor `folder`, or against the working directory if `folder` is AT_FDCWD.
/// Symbolic links in the parent directories are resolved.
std::string path_of_name(pid_t thread, std::int64_t folder, std::uint64_t address);
/// Returns the path of the file that is mapped at this address.
std::string path_of_mapping(pid_t thread, std::uint64_t address);

/// Returns the target of the descriptor's link in /proc, such as "pipe:[17]" or a path.
std::string link_of_descriptor(pid_t thread, std::int64_t descriptor);

}  // namespace headcrash::audit
