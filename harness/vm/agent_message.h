#pragma once
// Checks the messages that a guest's agent sends (harness/guest/PROTOCOL.md). The guest may run any
// kernel and mount any disk, so its messages are untrusted. After check_message(), each field that
// the host reads has the right type and is within its range. value() and get() then neither throw
// nor narrow.

#include <nlohmann/json.hpp>
#include <string_view>

#include "plugin/base/result.h"

namespace headcrash::vm {

/// Checks a message and removes fields that are not part of the protocol. Does not check the
/// entries of a dump, which oracle::parse_entry() parses. Errors name the invalid field.
Result<void> check_message(nlohmann::json& message);

/// Checks that the "ok" answer to `command` has all fields that the host needs.
Result<void> check_answer(std::string_view command, const nlohmann::json& answer);

}  // namespace headcrash::vm
