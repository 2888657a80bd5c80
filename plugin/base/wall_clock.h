#pragma once
// The wall-clock time for database rows and reports.

#include <string>

namespace headcrash::base {

/// Returns the current time (UTC) in ISO 8601, to the second: "2026-11-21T20:23:33Z".
std::string now_utc();

}  // namespace headcrash::base
