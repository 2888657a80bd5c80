#pragma once
// Syntax of a syncer policy:
//
//   sweep                     each second a thirtieth of the cache
//   periodic:30               everything each 30 s
//   interval:5                data last changed 5 s ago; metadata each second
//   interval:0                everything each second
//   interval:5:first          data first changed 5 s ago
//   interval:endless          no data because of its age
//   burst:15:3M               like interval:15, but early enough to finish in time at 3 MiB/s
//   write-through             each call returns once its changes are on the disk

#include <cstdint>
#include <string>
#include <string_view>

#include "fs-adapters/substrate/os/syncer.h"
#include "plugin/base/result.h"

namespace headcrash::os {

/// Parses a policy. Fails if the policy is unknown or the delay is invalid; error messages begin
/// with `subject`. Also rejects a burst delay within which dirty data could fill a cache of
/// `cache_bytes`, because that much data could not be written in time.
Result<SyncerOptions> parse_update_policy(std::string_view text, std::uint64_t cache_bytes,
                                          const std::string& subject);

}  // namespace headcrash::os
