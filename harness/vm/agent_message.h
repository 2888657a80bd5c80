#pragma once
// The check of what a guest's agent sends (harness/guest/PROTOCOL.md). The guest may run any kernel
// and mount any
// disk: after check_message() each field that the host reads has its type and range, so that
// value() and get() neither throw nor narrow.

#include <nlohmann/json.hpp>
#include <string_view>

#include "plugin/base/result.h"

namespace headcrash::vm {

/// Removes the fields that the protocol does not have. Entries of a dump are left to
/// oracle::parse_entry(). Errors name the field.
Result<void> check_message(nlohmann::json& message);

/// The answer to `command` with "ok" has the fields that the host decides by.
Result<void> check_answer(std::string_view command, const nlohmann::json& answer);

}  // namespace headcrash::vm
