#pragma once
// The wall-clock time for database rows and reports.

#include <string>

namespace headcrash::base {

/// Returns the time in ISO 8601, UTC, to the second: "2026-11-21T20:23:33Z".
std::string now_utc();

}  // namespace headcrash::base
