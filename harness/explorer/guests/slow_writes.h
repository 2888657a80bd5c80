#pragma once
// Finds the writes of a given kind in a recording. These writes can then be delayed when the same
// workload is recorded again.

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include "plugin/base/result.h"

namespace headcrash::explorer {

/// Ranges on the disk. Each has a first LBA and a number of sectors.
using SlowPlaces = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

/// Returns the ranges that the events `from` to `to` - 1 wrote on the first disk. Considers only
/// writes whose description (kind_of_write()) contains `kind`. The ranges are unique and ascending.
/// `type` is the file system type as in mount(2). Fails if the recording cannot be read, if there
/// are too many ranges for a stage, or if there is no such write; in that case, the error lists the
/// existing descriptions.
Result<SlowPlaces> places_of_kind(const std::filesystem::path& recording, std::string_view type,
                                  std::string_view kind, std::uint64_t from, std::uint64_t to);

}  // namespace headcrash::explorer
