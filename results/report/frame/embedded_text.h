#pragma once
// The files of this directory that are embedded in the program: queries, gnuplot templates and the
// style sheet.

#include <string_view>

namespace headcrash::report {

/// Returns the embedded text; empty for an unknown name.
std::string_view embedded_text(std::string_view name);

}  // namespace headcrash::report
