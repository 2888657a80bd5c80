#pragma once
// Which writes of a recording are of a kind, so that these can take longer when the same work is
// recorded again.

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include "plugin/base/result.h"

namespace headcrash::explorer {

/// A place on the disk: LBA, sectors.
using SlowPlaces = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

/// The places of the writes to the first disk, submitted as events `from` to `to` - 1, whose
/// description (kind_of_write()) contains `kind`; each once, ascending. `type`: of mount(2).
/// Errors: a recording that cannot be read; more places than a stage takes; no such write, with the
/// descriptions of some that there are.
Result<SlowPlaces> places_of_kind(const std::filesystem::path& recording, std::string_view type,
                                  std::string_view kind, std::uint64_t from, std::uint64_t to);

}  // namespace headcrash::explorer
