#pragma once
// Who executes a run, for those who only look.

#include <cstdint>
#include <filesystem>
#include <string>

namespace headcrash::run {

/// "process 123 on HOST since 2026-11-26T10:00:00Z"; empty: nobody does, or its lock cannot be
/// read.
std::string run_owner(const std::filesystem::path& database, std::int64_t run);

}  // namespace headcrash::run
