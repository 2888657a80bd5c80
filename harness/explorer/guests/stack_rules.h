#pragma once
// Rules of a stack of devices (adapters::StackRules), checked on the recorded requests of the
// stack's disks. Neither a guest nor a file system is involved. In these examples, M is a mark, W a
// write, F a flush and a an acknowledgement:
//
//   answered-after-all   hd0 ..W1......a1..M     M is "stack answered": a write to the stack has
//                        hd1 ..W2..........M...a2   completed. W2 is still in flight: broken
//   flushed-on-all       hd0 ..W1..a1..F..aF..M   M is "stack flushed". No flush of hd1 covers W2:
//                        hd1 ..W2..a2.........M   broken
//   preflushed-on-all    hd0 ..F1..aF1..R          R is a commit record, which a journal writes with a
//                        hd1 ..W1..a1..F2..R..aF2   preflush. The flush of hd1 is in flight: broken
//   bitmap-marks-writes  when a write reaches a disk, the disk's write-intent bitmap (md_bitmap.h)
//                        marks the region, and a flush covers the mark
//   journal-forgets-flushed  when the journal of a RAID-5, which is the last disk, gets a record that a
//                        stripe is on the other disks (md_journal.h), a flush of each of them covers
//                        all completed writes to the stripe
//   zeroed-is-zero       always checked: no mark "stack lost zeroes", which the probe sets if a
//                        range reads other bytes after it was zeroed
//   mirrors, xor         while no write is in flight, the disks hold equal data, or the exclusive
//                        or of their data is zero
//
// Only data is compared, that is, sectors from StackRules::data_offset_bytes on. A guest in real
// time may submit the writes of one group one by one, with moments between them in which no write
// is in flight. A difference therefore counts only if it lasts for as many such moments as there
// are disks, or until the end.

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "fs-adapters/linux/stack.h"
#include "plugin/states/run_history.h"

namespace headcrash::explorer {

/// Prefixes of the marks that a probe sets (stack_probe.h).
inline constexpr std::string_view kStackAnswered = "stack answered ";
inline constexpr std::string_view kStackFlushed = "stack flushed ";

/// The probe sets this mark before it writes commit records with a preflush. It writes the records
/// one by one, with no other request in flight.
inline constexpr std::string_view kStackPreflushes = "stack preflushes";
inline constexpr std::string_view kStackLostZeroes = "stack lost zeroes ";

/// Names of the rules: keys of [rules], and "zeroed-is-zero".
inline constexpr std::array<std::string_view, 8> kRuleNames{
    "answered-after-all", "flushed-on-all", "preflushed-on-all", "bitmap-marks-writes",
    "zeroed-is-zero",     "mirror-width",   "xor-is-zero",       "journal-forgets-flushed"};

struct BrokenRule {
  std::string rule;  ///< one of kRuleNames
  std::string disk;  ///< the disk that breaks the rule, such as "hd1"
  /// Number of events after which the disk first violates the rule.
  std::uint64_t event = 0;
  std::vector<model::RequestId> requests;  ///< requests that caused the violation; may be empty
  /// One sentence that names the disk, the requests and the sectors.
  std::string text;
};

/// Maximum number of violations to report for each rule.
inline constexpr std::size_t kBrokenRulesMost = 5;

/// Checks that a recording of the stack's disks obeys the rules. Fails if a payload cannot be read,
/// or if a rule cannot be checked: there is no bitmap, or the probe's commit records are not found.
Result<std::vector<BrokenRule>> check_stack_rules(const states::RunHistory& run,
                                                  const adapters::StackRules& rules);
/// Loads the recording and calls the function above.
Result<std::vector<BrokenRule>> check_stack_rules(const std::filesystem::path& recording,
                                                  const adapters::StackRules& rules);

}  // namespace headcrash::explorer
