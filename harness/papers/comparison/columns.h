#pragma once
// The compared workloads, and the measurement of one cell: a system, a machine, a workload and
// several seeds.
//
// Each workload is one of harness/workload/timed, scaled down by a factor that its title gives, so
// that twenty systems on three devices take minutes. The seed determines contents, random draws,
// the initial angles of the disks, and the phase of the syncer.

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
  std::string title;     ///< includes the factor by which the workload is scaled down
  std::string workload;  ///< of harness/workload/timed
  timed::Arguments arguments = {};
  timed::Arguments scaled = {};  ///< for tests
  std::string phase;             ///< phase whose response times are reported
  std::string operation;         ///< operation whose response times are reported
};
/// Returns the workloads that start on an empty disk.
const std::vector<Column>& columns();
/// Returns the column with that name. REQUIRES: the column exists.
const Column& column(std::string_view name);
/// Returns the smaller workloads for a nearly full disk.
const std::vector<Column>& aged_columns();

enum class Quantity : std::uint8_t { user, quiet, busy, response, response_p99, writes };
inline constexpr std::array kQuantities{Quantity::user,         Quantity::quiet,
                                        Quantity::busy,         Quantity::response,
                                        Quantity::response_p99, Quantity::writes};
const char* name(Quantity quantity);
const char* unit(Quantity quantity);

struct Outcome {
  std::array<Sample, kQuantities.size()> samples;  ///< one value per seed
  std::string error;                               ///< empty if the runs for all seeds succeeded
  double modelled_s = 0;

  const Sample& of(Quantity quantity) const {
    return samples.at(static_cast<std::size_t>(quantity));
  }
};

/// Measures a cell. `images` contains either one image for all seeds, or one image per seed. The
/// same arguments yield the same outcome.
Outcome measure(const Context& context, const Row& row, const MachineChoice& choice,
                const Column& column,
                const std::vector<std::shared_ptr<const MachineImage>>& images);

}  // namespace headcrash::experiment::compare
