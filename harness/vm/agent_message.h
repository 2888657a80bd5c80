#pragma once
// Checks messages from a guest's agent (harness/guest/PROTOCOL.md). The guest may run any kernel
// and mount any disk, so messages are untrusted. After check_message(), each field that the host
// reads has its type and range, and value() and get() neither throw nor narrow.

#include <nlohmann/json.hpp>
#include <string_view>

#include "plugin/base/result.h"

namespace headcrash::vm {

/// Removes fields that are not part of the protocol. Does not check a dump's entries, which
/// oracle::parse_entry() parses. Errors name the invalid field.
Result<void> check_message(nlohmann::json& message);

/// Checks that an "ok" answer to `command` has all fields that the host needs.
Result<void> check_answer(std::string_view command, const nlohmann::json& answer);

}  // namespace headcrash::vm
