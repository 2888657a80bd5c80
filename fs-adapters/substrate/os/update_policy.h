#pragma once
// Syntax of a syncer policy:
//
//   sweep                     each second a thirtieth of the cache
//   periodic:30               everything each 30 s
//   interval:5                data last changed 5 s ago; metadata each second
//   interval:0                everything each second
//   interval:5:first          data first changed 5 s ago
//   interval:endless          data never because of age
//   burst:15:3M               as interval:15, but early enough to be done in time at 3 MiB/s
//   write-through             each call returns once its changes are on the disk

#include <cstdint>
#include <string>
#include <string_view>

#include "fs-adapters/substrate/os/syncer.h"
#include "plugin/base/result.h"

namespace headcrash::os {

/// Parses a policy. Errors begin with `subject`: an unknown policy, or a delay that is malformed,
/// negative, 0 where that is invalid, or too long for memory. With burst, a long delay would fill a
/// cache of `cache_bytes` with unwritten data first, which could then never be written in time.
Result<SyncerOptions> parse_update_policy(std::string_view text, std::uint64_t cache_bytes,
                                          const std::string& subject);

}  // namespace headcrash::os
