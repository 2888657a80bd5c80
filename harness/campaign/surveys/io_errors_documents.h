#pragma once
// Where what a cell shows is described by those who wrote it. Each place was read, none is guessed:
// what is not here may still be known to somebody.

#include <string>
#include <string_view>

#include "harness/campaign/surveys/io_errors_plan.h"
#include "harness/campaign/surveys/io_errors_verdict.h"

namespace headcrash::campaign {

/// Places and what they say, one sentence each; empty: nothing that we know describes it. `type` is
/// the adapter's.
std::string documents_of(const IoErrorCell& cell, std::string_view type,
                         const IoErrorOutcome& outcome);

}  // namespace headcrash::campaign
