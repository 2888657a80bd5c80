// Looks up timed workloads by name and checks their arguments (timed_workload.h).
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "harness/workload/timed/workloads.h"
#include "plugin/base/invariant.h"
#include "plugin/base/nearest.h"

namespace headcrash::timed {

std::span<const TimedWorkload> timed_workloads() {
  static const std::array kAll{
      n_user_copy(), n_user_remove(),   create_1k(), remove_1k(),      create_remove_1k(),
      andrew(),      andrew_modified(), sdet(),      lfs_small_file(), lfs_large_file(),
      empty_files(), chen_r2(),         chen_r3(),   chen_burst(),     chen_fsync(),
      dbench(),      postmark(),        laddis(),    recovery(),       boot_after_cut(),
      source_tree(), mail_spool(),      ageing()};
  return kAll;
}

Result<const TimedWorkload*> find_timed_workload(std::string_view name) {
  std::vector<std::string> names;
  for (const TimedWorkload& each : timed_workloads()) {
    if (each.name == name) return &each;
    names.emplace_back(each.name);
  }
  return fail(fmt::format("timed workload \"{}\"", name), "unknown", base::suggest(name, names));
}

Result<Arguments> arguments_of(const TimedWorkload& workload, bool scaled,
                               const Arguments& replaced, const std::string& subject) {
  Arguments arguments;
  std::vector<std::string> names;
  for (const Parameter& each : workload.parameters) {
    arguments.emplace(each.name, scaled ? each.scaled : each.exact);
    names.emplace_back(each.name);
  }
  for (const auto& replacement : replaced) {
    const std::string& name = replacement.first;
    const std::int64_t value = replacement.second;
    const auto known = std::find_if(workload.parameters.begin(), workload.parameters.end(),
                                    [&name](const Parameter& each) { return each.name == name; });
    if (known == workload.parameters.end())
      return fail(fmt::format("{}: {}", subject, name),
                  fmt::format("{} has no such parameter", workload.name),
                  base::suggest(name, names));
    if (value < known->least || value > known->most)
      return fail(fmt::format("{}: {}", subject, name), fmt::format("{} is out of range", value),
                  fmt::format("use {} to {}", known->least, known->most));
    arguments[name] = value;
  }
  return arguments;
}

void Tally::add(const Tally& other) {
  operations += other.operations;
  bytes_read += other.bytes_read;
  bytes_written += other.bytes_written;
  latencies.add(other.latencies);
  layout.files += other.layout.files;
  layout.blocks += other.layout.blocks;
  layout.pieces += other.layout.pieces;
}

std::uint64_t argument(const Arguments& arguments, std::string_view name) {
  const auto at = arguments.find(name);
  invariant(at != arguments.end() && at->second >= 0,
            "the timed workload must have the parameter, with a value of at least 0");
  return static_cast<std::uint64_t>(at->second);
}

}  // namespace headcrash::timed
