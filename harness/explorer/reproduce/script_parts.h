#pragma once
// The common parts of a failure's scripts (reproducer.h, workload_script.h). The head of each
// describes the failure in variables and functions of a POSIX shell.

#include <string>
#include <string_view>
#include <vector>

#include "harness/explorer/reproduce/reproducer.h"

namespace headcrash::explorer {

/// Placeholder of the device in an adapter's commands.
inline constexpr std::string_view kDevicePlace = "{device}";

/// Returns NAME='VALUE'.
std::string script_setting(std::string_view name, const std::string& value);

/// Returns a function NAME, whose first argument is the device, and NAME_good, its good exit codes.
std::string script_command(const std::string& name, const adapters::GuestCommand& command);

/// Returns the command as a user would type it.
std::string in_words(const adapters::GuestCommand& command);

std::string as_comment(const std::string& text);

/// Returns title, file system, and the commands for recovery and check.
std::string script_head(const ReproducerOf& of);

std::string checks_function(const std::vector<std::string>& lines);

/// Returns the text of a file of this folder.
std::string embedded_script(std::string_view name);

}  // namespace headcrash::explorer
