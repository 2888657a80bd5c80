#pragma once
// A syncer's policy as a user writes it:
//
//   sweep                     each second a thirtieth of the cache
//   periodic:30               everything each 30 s
//   interval:5                data that were last changed 5 s ago; metadata each second. interval:0: each second
//   interval:5:first          data that were first changed 5 s ago
//   interval:endless          data never for their age
//   burst:15:3M               as interval:15, but so early that all of it is written in time at 3 MiB/s
//   write-through             each call returns when what it has changed is on the disk

#include <cstdint>
#include <string>
#include <string_view>

#include "fs-adapters/substrate/os/syncer.h"
#include "plugin/base/result.h"

namespace headcrash::os {

/// `subject` is put in front of errors: an unknown policy, a delay that is not a number, negative,
/// 0 where that means nothing, or longer than memory allows: under the burst policy a cache of
/// `cache_bytes` is full of what has not been written long before, and can never be written in
/// time.
Result<SyncerOptions> parse_update_policy(std::string_view text, std::uint64_t cache_bytes,
                                          const std::string& subject);

}  // namespace headcrash::os
