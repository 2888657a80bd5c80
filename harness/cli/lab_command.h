#pragma once
// What the commands that work with the lab's guests share: starting it, and findings as JSON.

#include <nlohmann/json.hpp>

#include "harness/lab/lab.h"

namespace headcrash::cli {

/// With the user's cache and the guest that this file system wants.
Result<std::unique_ptr<lab::Lab>> start_lab(const adapters::LinuxAdapter& filesystem,
                                            std::uint64_t disk_bytes, std::size_t guests);

nlohmann::json findings_as_json(const std::vector<crash::Finding>& findings);

}  // namespace headcrash::cli
