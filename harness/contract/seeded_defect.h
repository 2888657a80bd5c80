#pragma once
// The seeded defect of a litmus test: a file system that breaks exactly the promise that the test
// checks. The test must find this violation.
//
// A model executes the operations of a test in memory. The correct model makes each operation
// durable before it returns, and can be cut between any two operations. A defect consists of steps
// that change the correct model's outcome:
//
//   forget NUMBER       this operation, counted from 1, returned but had no effect
//   cut NUMBER          the power is cut after this operation; default: after the last one
//   remove PATH         the recovered tree lacks the name
//   empty PATH          the file is empty
//   zero PATH           the file's content reads as zeroes
//   stale PATH          the file contains old data from the disk
//   tear PATH           the second half of the file is that of the state before the operations
//   half PATH           the file is truncated to its first half
//   restore PATH        the object has its state from before the operations
//   add PATH OTHER      PATH also exists, with the same object as OTHER
//   plain PATH          mode, times, attributes and reserved space of the object are lost

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/contract/allowed_set.h"
#include "harness/workload/operation.h"

namespace headcrash::contract {

struct DefectStep {
  enum class Kind : std::uint8_t {
    forget,
    cut,
    remove,
    empty,
    zero,
    stale,
    tear,
    half,
    restore,
    add,
    plain,
  };
  Kind kind = Kind::remove;
  std::size_t operation = 0;  ///< for `forget` and `cut`: number of the operation, counted from 1
  std::string path, other;
};
using SeededDefect = std::vector<DefectStep>;

/// Parses one step. Errors begin with `subject`.
Result<DefectStep> parse_defect_step(const std::string& text, std::size_t operations,
                                     const std::string& subject);

std::string format(const DefectStep& step);

/// Executes `initial`, then `operations`. Returns the tree after `initial` and after each further
/// operation. Fails if an operation fails.
Result<std::vector<Tree>> states_of(std::span<const workload::Operation> initial,
                                    std::span<const workload::Operation> operations,
                                    const std::string& subject);

/// A tree after recovery, and the last persistence point that was reported before the cut.
struct ModelledCut {
  Tree tree;
  std::optional<std::size_t> persisted;
};

/// Returns all crash states of the correct model.
std::vector<ModelledCut> correct_cuts(std::span<const workload::Operation> operations,
                                      const std::vector<Tree>& states);

/// Returns the crash state that the file system with this defect leaves.
ModelledCut defective_cut(std::span<const workload::Operation> initial,
                          std::span<const workload::Operation> operations,
                          const std::vector<Tree>& states, const SeededDefect& defect);

}  // namespace headcrash::contract
