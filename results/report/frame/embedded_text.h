#pragma once
// Queries, gnuplot templates and the style sheet are files of this folder, embedded into the
// program.

#include <string_view>

namespace headcrash::report {

/// Empty for a name that is not embedded.
std::string_view embedded_text(std::string_view name);

}  // namespace headcrash::report
