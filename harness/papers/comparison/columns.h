#pragma once
// The workloads that are compared, and one cell: a system, a machine, a workload, several seeds.
//
// Each is one of harness/workload/timed, cut down by a factor that its title says, so that twenty
// systems on three devices take minutes. With another seed come other contents, draws and places of
// the disks' angles and in the syncer's second.

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "harness/papers/comparison/interval.h"
#include "harness/papers/comparison/rows.h"
#include "harness/workload/timed/timed_workload.h"

namespace headcrash::experiment::compare {

struct Column {
  std::string name;      ///< "postmark"
  std::string title;     ///< with what was cut down
  std::string workload;  ///< of harness/workload/timed
  timed::Arguments arguments = {};
  timed::Arguments scaled = {};  ///< for tests
  std::string phase;             ///< whose single operations' responses are told
  std::string operation;         ///< what a response is of
};
/// On a disk that was empty before.
const std::vector<Column>& columns();
/// The one of that name.
const Column& column(std::string_view name);
/// Smaller, for a disk that is nearly full.
const std::vector<Column>& aged_columns();

enum class Quantity : std::uint8_t { user, quiet, busy, response, response_p99, writes };
inline constexpr std::array kQuantities{Quantity::user,         Quantity::quiet,
                                        Quantity::busy,         Quantity::response,
                                        Quantity::response_p99, Quantity::writes};
const char* name(Quantity quantity);
const char* unit(Quantity quantity);

struct Outcome {
  std::array<Sample, kQuantities.size()> samples;  ///< a value for each seed
  std::string error;                               ///< empty: all seeds ran
  double modelled_s = 0;

  const Sample& of(Quantity quantity) const {
    return samples.at(static_cast<std::size_t>(quantity));
  }
};

/// The images with the seeds' numbers; one for all of them, or as many as seeds. Equal arguments
/// give equal outcomes.
Outcome measure(const Context& context, const Row& row, const MachineChoice& choice,
                const Column& column,
                const std::vector<std::shared_ptr<const MachineImage>>& images);

}  // namespace headcrash::experiment::compare
