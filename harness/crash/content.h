#pragma once
// Judges the size and the blocks of one file against its history.

#include <cstddef>
#include <optional>
#include <vector>

#include "harness/crash/history.h"
#include "harness/crash/observed_tree.h"
#include "harness/crash/verdict.h"

namespace headcrash::crash {

/// The operations that may or must have happened when the power went.
struct Horizon {
  std::optional<std::size_t> persisted;  ///< the last known persistence point, P
  std::size_t reached = 0;               ///< the last operation that may have run, Q
};

/// At most one finding of each kind; each names the first block and how many there are.
std::vector<Finding> judge_content(const ObjectHistory& object, const ObservedObject& observed,
                                   const Horizon& horizon);

/// The last of rising operation indices that is not after `persisted`.
std::optional<std::size_t> last_cover(const std::vector<std::size_t>& covers,
                                      const std::optional<std::size_t>& persisted);

}  // namespace headcrash::crash
