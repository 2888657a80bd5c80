#pragma once
// References to documentation that describes the result of a cell. All places have been read. A
// missing entry does not mean that the behaviour is undocumented.

#include <string>
#include <string_view>

#include "harness/campaign/surveys/io_errors_plan.h"
#include "harness/campaign/surveys/io_errors_verdict.h"

namespace headcrash::campaign {

/// Returns the places and their statements, one sentence each; empty if we know of none. `type` is
/// the adapter's.
std::string documents_of(const IoErrorCell& cell, std::string_view type,
                         const IoErrorOutcome& outcome);

}  // namespace headcrash::campaign
