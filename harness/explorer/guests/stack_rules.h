#pragma once
// Rules of a stack of devices (adapters::StackRules), checked on the recorded requests of its disks.
// No guest and no file system is involved.
//
//   answered-after-all   hd0 ..W1......a1..M     M: "stack answered", a write to the stack has
//                        hd1 ..W2..........M...a2   completed; W2 is in flight: broken
//   flushed-on-all       hd0 ..W1..a1..F..aF..M   M: "stack flushed"; no flush of hd1 covers W2
//                        hd1 ..W2..a2.........M
//   mirrors, xor         while no write is in flight, disks hold equal data, or data whose
//                        exclusive or is zero
//
// Only data is compared: sectors from StackRules::data_offset_bytes on. A difference counts if it
// lasts for as many such moments as there are disks, or until the end, because a guest in real time
// may submit the writes of one group one by one.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fs-adapters/linux/stack.h"
#include "plugin/states/run_history.h"

namespace headcrash::explorer {

/// Prefixes of the marks of a probe (stack_probe.h).
inline constexpr std::string_view kStackAnswered = "stack answered ";
inline constexpr std::string_view kStackFlushed = "stack flushed ";

struct BrokenRule {
  std::string rule;                        ///< its key in [rules]
  std::string disk;                        ///< the disk that breaks it, as hd1
  std::uint64_t event = 0;                 ///< events before the moment at which it is broken
  std::vector<model::RequestId> requests;  ///< requests involved; may be empty
  std::string text;                        ///< one sentence with disk, requests and place
};

/// Maximum number of reports for each rule.
inline constexpr std::size_t kBrokenRulesMost = 5;

/// Checks the rules on a recording of the stack's disks. Fails if a payload cannot be read.
Result<std::vector<BrokenRule>> check_stack_rules(const states::RunHistory& run,
                                                  const adapters::StackRules& rules);

}  // namespace headcrash::explorer
