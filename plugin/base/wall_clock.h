#pragma once
// The instant of a row in the database, and of whatever people read beside it.

#include <string>

namespace headcrash::base {

/// ISO 8601, UTC, to the second: "2026-11-21T20:23:33Z".
std::string now_utc();

}  // namespace headcrash::base
