#pragma once
// The options --stacks and --debug-symbols.

#include <CLI/CLI.hpp>

#include "harness/explorer/guests/record_workload.h"

namespace headcrash::cli {

/// Adds the options to a command that records a workload. They set `disk.issuers` and
/// `disk.describe_issuers`. `disk` must outlive `command`.
void add_stacks_options(CLI::App& command, explorer::DiskOptions& disk);

}  // namespace headcrash::cli
