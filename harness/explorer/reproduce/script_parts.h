#pragma once
// The parts that a failure's two scripts share (reproducer.h, workload_script.h). Both scripts
// begin with shell variables and functions that describe the failure.

#include <string>
#include <string_view>
#include <vector>

#include "harness/explorer/reproduce/reproducer.h"

namespace headcrash::explorer {

/// Placeholder for the device in the commands of an adapter.
inline constexpr std::string_view kDevicePlace = "{device}";

/// Returns the assignment NAME='VALUE'.
std::string script_setting(std::string_view name, const std::string& value);

/// Returns shell code. The function NAME runs `command` on the device in its first argument. The
/// variable NAME_good lists the exit codes that mean success.
std::string script_command(const std::string& name, const adapters::GuestCommand& command);

/// Returns the command line as a user would type it.
std::string in_words(const adapters::GuestCommand& command);

std::string as_comment(const std::string& text);

/// Returns the beginning of a script: the title, the file system, and the commands for recovery and
/// checking.
std::string script_head(const ReproducerOf& of);

std::string checks_function(const std::vector<std::string>& lines);

/// Returns the embedded text of a script in this directory.
std::string embedded_script(std::string_view name);

}  // namespace headcrash::explorer
