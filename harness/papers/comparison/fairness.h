#pragma once
// Conditions of a fair comparison, computed from the settings of the compared systems.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "harness/papers/comparison/rows.h"

namespace headcrash::experiment::compare {

/// not_computed: the condition is about code, so no setting shows whether it is met.
enum class Met : std::uint8_t { yes, no, not_computed };

struct Condition {
  std::string text;
  Met met = Met::not_computed;
  /// How the condition is met, or the exceptions.
  std::string how;
};

using MachineOf = std::function<ModelledMachineOptions(const Row&, const MachineChoice&)>;

/// Returns the eleven conditions for these rows, in order.
std::vector<Condition> conditions(const std::vector<Row>& rows,
                                  const MachineOf& machine = machine_of);

}  // namespace headcrash::experiment::compare
