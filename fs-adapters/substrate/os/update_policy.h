#pragma once
// Syntax of a syncer policy:
//
//   sweep                     each second, visits a thirtieth of the cache
//   periodic:30               every 30 s, writes everything
//   interval:5                each second, writes data unchanged for 5 s, and all metadata
//   interval:0                each second, writes everything
//   interval:5:first          like interval:5, but writes data that has been dirty for 5 s
//   interval:endless          each second, writes metadata; age never causes data to be written
//   burst:15:3M               like interval:15, but early enough to finish in time at 3 MiB/s
//   write-through             each call returns once its changes are on the disk

#include <cstdint>
#include <string>
#include <string_view>

#include "fs-adapters/substrate/os/syncer.h"
#include "plugin/base/result.h"

namespace headcrash::os {

/// Parses a policy. Fails if the policy is unknown or its delay is invalid; error messages begin
/// with `subject`. The delay of a burst policy must not exceed the time in which a full cache of
/// `cache_bytes` is written at the policy's rate.
Result<SyncerOptions> parse_update_policy(std::string_view text, std::uint64_t cache_bytes,
                                          const std::string& subject);

}  // namespace headcrash::os
