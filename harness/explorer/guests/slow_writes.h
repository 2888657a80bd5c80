#pragma once
// Finds the writes of a given kind in a recording, so that they can be delayed when the same
// workload is recorded again.

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include "plugin/base/result.h"

namespace headcrash::explorer {

/// Places on the disk: LBA and number of sectors.
using SlowPlaces = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

/// Returns the places of writes to the first disk, submitted as events `from` to `to` - 1, whose
/// description (kind_of_write()) contains `kind`. They are unique and ascending. `type` is that of
/// mount(2). Fails if the recording cannot be read, if a stage cannot hold the number of places, or
/// if there is no such write (the error lists existing descriptions).
Result<SlowPlaces> places_of_kind(const std::filesystem::path& recording, std::string_view type,
                                  std::string_view kind, std::uint64_t from, std::uint64_t to);

}  // namespace headcrash::explorer
