#pragma once
// The tracer's report as JSON.

#include <string>

#include "harness/audit/tracer/tracer.h"
#include "plugin/base/result.h"

namespace headcrash::audit {

std::string report_text(const Trace& trace);

/// Parses a report. Fails if the report is not complete. `subject` names the report in the error.
Result<Trace> parse_report(const std::string& text, const std::string& subject);

}  // namespace headcrash::audit
