#pragma once
// What the scripts of a failure have in common (reproducer.h, workload_script.h): their heads say
// what is special about it, in variables and functions of a POSIX shell.

#include <string>
#include <string_view>
#include <vector>

#include "harness/explorer/reproduce/reproducer.h"

namespace headcrash::explorer {

/// What stands for the device in an adapter's commands.
inline constexpr std::string_view kDevicePlace = "{device}";

/// NAME='VALUE'
std::string script_setting(std::string_view name, const std::string& value);

/// A function NAME whose first argument is the device, and NAME_good, its good exit codes.
std::string script_command(const std::string& name, const adapters::GuestCommand& command);

/// As a person would type it.
std::string in_words(const adapters::GuestCommand& command);

std::string as_comment(const std::string& text);

/// Title, file system, how it recovers and is checked.
std::string script_head(const ReproducerOf& of);

std::string checks_function(const std::vector<std::string>& lines);

/// The text of a file of this folder.
std::string embedded_script(std::string_view name);

}  // namespace headcrash::explorer
