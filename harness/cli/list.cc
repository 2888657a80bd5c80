// headcrash list: lists the available profiles, file systems, workloads and so on.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <set>

#include "fs-adapters/linux/adapter.h"
#include "fs-adapters/registry.h"
#include "harness/bench/bench_file.h"
#include "harness/campaign/campaign_file.h"
#include "harness/campaign/schemes/schemes_plan.h"
#include "harness/campaign/surveys/io_errors_plan.h"
#include "harness/campaign/surveys/unsynced_plan.h"
#include "harness/cli/command.h"
#include "harness/cli/terminal.h"
#include "harness/papers/experiment.h"
#include "harness/workload/application.h"
#include "harness/workload/catalogue.h"
#include "harness/workload/timed/timed_workload.h"
#include "plugin/profiles/profile.h"
#include "plugin/profiles/stream_rates.h"
#include "results/report/frame/text_table.h"

namespace headcrash::cli {
namespace {

using nlohmann::json;

constexpr std::uint64_t kSectorsPerMib = 2048;
constexpr double kBytesPerMb = 1e6;
constexpr const char* kOldBenchmarks = "benches";  ///< still accepted instead of "benchmarks"

/// Returns the value, or null if it is 0, which means that it does not apply to this kind of
/// device.
json unless_zero(double value) {
  return value == 0 ? json() : json(value);
}

json device_profiles() {
  json rows = json::array();
  for (const auto& profile : profiles::list_profiles()) {
    json origins = json::object();
    for (const profiles::Origin& origin : profile.origins) {
      origins[origin.table] = {{"kind", origin.kind}, {"remark", origin.remark}};
    }
    profiles::StreamRates rates;
    if (const auto stack = profiles::load_stack(profile.name))
      if (const auto found = profiles::stream_rates(*stack)) rates = *found;
    const auto simulated = [](double rate) { return unless_zero(rate / kBytesPerMb); };
    rows.push_back({{"name", profile.name},
                    {"title", profile.title},
                    {"kind", profile.kind},
                    {"capacity_mib", profile.capacity_sectors / kSectorsPerMib},
                    {"rpm", unless_zero(profile.rpm)},
                    {"average_seek_ms", unless_zero(profile.average_seek_ms)},
                    {"outer_mb_per_s", unless_zero(profile.outer_bytes_per_second / kBytesPerMb)},
                    {"inner_mb_per_s", unless_zero(profile.inner_bytes_per_second / kBytesPerMb)},
                    {"simulated_read_mb_per_s", simulated(rates.read)},
                    {"simulated_write_mb_per_s", simulated(rates.write)},
                    {"origins", origins}});
  }
  return rows;
}

json filesystems() {
  json rows = json::array();
  for (const std::string& name : adapters::built_in_adapters()) {
    const Result<adapters::LinuxAdapter> adapter = adapters::load_adapter(name);
    if (!adapter) continue;
    rows.push_back({{"name", name},
                    {"title", adapter->title},
                    {"expected", adapters::name(adapter->expected)},
                    {"reason", adapter->expected_reason},
                    {"minimum_size_bytes", adapter->minimum_size_bytes}});
  }
  return rows;
}

json stacks() {
  json rows = json::array();
  for (const std::string& name : adapters::built_in_stacks()) {
    const auto stack = adapters::load_stack_of_devices(name);
    if (!stack) continue;
    rows.push_back({{"name", name},
                    {"title", stack->title},
                    {"disks", stack->disks},
                    {"expected", adapters::name(stack->expected)},
                    {"reason", stack->reason},
                    {"source", stack->source},
                    {"packages", fmt::format("{}", fmt::join(stack->packages, " "))}});
  }
  return rows;
}

std::string_view name(adapters::NameOrder order) {
  switch (order) {
    case adapters::NameOrder::unordered:
      return "unordered";
    case adapters::NameOrder::ordered:
      return "ordered";
    case adapters::NameOrder::atomic:
      break;
  }
  return "atomic";
}

/// Returns a row for each of our own file systems, with its promises to the oracle.
json systems() {
  json rows = json::array();
  for (const adapters::SystemUnderTest* const system : adapters::all_systems()) {
    const adapters::Promises& promises = system->description().promises;
    rows.push_back({{"name", system->full_name()},
                    {"title", system->description().title},
                    {"control", system->control() ? "control" : ""},
                    {"names", name(promises.names)},
                    {"fsync_keeps_name", promises.fsync_keeps_name ? "yes" : "no"},
                    {"stale_data", promises.exposes_stale_data ? "may show" : "never"}});
  }
  return rows;
}

json parameters_of(const timed::TimedWorkload& workload) {
  json parameters = json::object();
  for (const timed::Parameter& each : workload.parameters) {
    parameters[std::string(each.name)] = {{"exact", each.exact},
                                          {"scaled", each.scaled},
                                          {"least", each.least},
                                          {"most", each.most},
                                          {"meaning", each.meaning}};
  }
  return parameters;
}

/// Returns two kinds of workloads: those for crash tests, and those for benchmarks.
json workloads() {
  json rows = json::array();
  for (const workload::WorkloadSummary& each : workload::known_workloads()) {
    rows.push_back(
        {{"name", each.name}, {"title", each.title}, {"kind", "crash"}, {"count", each.count}});
    if (each.count == 0) rows.back()["count"] = "any";
  }
  for (const timed::TimedWorkload& each : timed::timed_workloads()) {
    rows.push_back({{"name", each.name},
                    {"title", each.title},
                    {"kind", "timed"},
                    {"count", nullptr},
                    {"source", each.source},
                    {"operation", each.operation},
                    {"parameters", parameters_of(each)}});
  }
  return rows;
}

json campaigns() {
  json rows = json::array();
  std::vector<campaign::CampaignSummary> summaries = campaign::built_in_campaigns();
  for (const adapters::FileSystemType* const type : adapters::file_system_types())
    summaries.push_back(campaign::schemes_campaign_summary(*type));
  summaries.push_back(campaign::io_errors_campaign_summary());
  summaries.push_back(campaign::unsynced_campaign_summary());
  for (const campaign::CampaignSummary& summary : summaries) {
    rows.push_back({{"name", summary.name},
                    {"title", summary.title},
                    {"trials", summary.trials},
                    {"states", summary.states == 0 ? json() : json(summary.states)},
                    {"takes", summary.takes}});
  }
  return rows;
}

json benchmarks() {
  json rows = json::array();
  for (const bench::BenchSummary& summary : bench::built_in_benches()) {
    rows.push_back({{"name", summary.name},
                    {"title", summary.title},
                    {"cells", summary.cells},
                    {"trials", fmt::format("{} to {}", summary.trials_least, summary.trials_most)},
                    {"takes", summary.takes}});
  }
  return rows;
}

/// Returns a row for each application, in each of its settings.
json applications() {
  json rows = json::array();
  for (const std::string& name : workload::built_in_applications()) {
    const auto settings = workload::load_applications(name + "+*");
    if (!settings) continue;
    for (const workload::Application& each : *settings)
      rows.push_back({{"name", each.name},
                      {"title", each.title},
                      {"expected", adapters::name(each.expected)},
                      {"packages", fmt::format("{}", fmt::join(each.packages, " "))},
                      {"promise", each.promise}});
  }
  return rows;
}

json experiments() {
  json rows = json::array();
  for (const experiment::ExperimentSummary& summary : experiment::known_experiments()) {
    std::string parameters;
    for (const experiment::Parameter& parameter : summary.parameters)
      parameters +=
          fmt::format("{}{}={:g}", parameters.empty() ? "" : " ", parameter.name, parameter.usual);
    json row{{"name", summary.name}, {"title", summary.title}};
    // Only in JSON, because the parameters are too wide for the table.
    if (!parameters.empty()) row["parameters"] = parameters;
    rows.push_back(std::move(row));
  }
  return rows;
}

/// Returns the timed workloads. Parameters are formatted as "files=10000/1000": the exact value,
/// then the scaled value if it differs.
json timed_workloads() {
  json rows = json::array();
  for (const timed::TimedWorkload& each : timed::timed_workloads()) {
    std::string parameters;
    for (const timed::Parameter& parameter : each.parameters)
      parameters += fmt::format(
          "{}{}={}{}", parameters.empty() ? "" : " ", parameter.name, parameter.exact,
          parameter.scaled == parameter.exact ? "" : fmt::format("/{}", parameter.scaled));
    rows.push_back({{"name", each.name},
                    {"title", each.title},
                    {"source", each.source},
                    {"operation", each.operation},
                    {"parameters", parameters}});
  }
  return rows;
}

/// Formats a JSON value as a cell of the table. A JSON object gives the origin of each number in a
/// profile. Its cell contains only the kinds of origin; --json prints the whole object.
std::string cell(const json& value) {
  if (value.is_object()) {
    std::set<std::string> kinds;
    for (const auto& [table, origin] : value.items()) kinds.insert(origin.value("kind", ""));
    return fmt::format("{}", fmt::join(kinds, ", "));
  }
  if (value.is_null()) return {};
  if (value.is_number_float()) return fmt::format("{:.1f}", value.get<double>());
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// Prints a table. Numbers are right-aligned.
void print_table(const json& rows, const std::vector<std::string>& columns) {
  std::vector<std::string> titles;
  for (const std::string& column : columns) {
    const bool right = std::any_of(rows.begin(), rows.end(), [&column](const json& row) {
      return row.contains(column) && row[column].is_number();
    });
    titles.push_back((right ? ">" : "") + column);
  }
  report::TextTable table(titles);
  for (const json& row : rows) {
    std::vector<std::string> cells;
    cells.reserve(columns.size());
    for (const std::string& column : columns)
      cells.push_back(row.contains(column) ? cell(row[column]) : "");
    table.add(cells);
  }
  print_fitted(table.text(0));
}

/// Returns all columns in display order. The name is first. The title is last, because it is the
/// longest.
std::vector<std::string> all_columns(const json& rows) {
  std::vector<std::string> columns{"name"};
  if (!rows.empty())
    for (const auto& [key, value] : rows[0].items())
      if (key != "name" && key != "title") columns.push_back(key);
  columns.emplace_back("title");
  return columns;
}

struct List {
  std::string name;
  json (*rows)();
  /// Columns to show even without --wide, after the name and before the title.
  std::vector<std::string> columns;
};

const std::vector<List>& lists() {
  static const std::vector<List> all{{"profiles", device_profiles, {"kind", "capacity_mib"}},
                                     {"filesystems", filesystems, {"expected"}},
                                     {"stacks", stacks, {"disks", "expected"}},
                                     {"systems", systems, {"control"}},
                                     {"workloads", workloads, {"kind"}},
                                     {"campaigns", campaigns, {"trials"}},
                                     {"benchmarks", benchmarks, {"cells"}},
                                     {"applications", applications, {"expected"}},
                                     {"experiments", experiments, {}},
                                     {"timed", timed_workloads, {"operation"}}};
  return all;
}

std::vector<std::string> list_names() {
  std::vector<std::string> names;
  for (const List& list : lists()) names.push_back(list.name);
  names.emplace_back(kOldBenchmarks);
  return names;
}

struct ListArguments {
  std::string what;
  bool wide = false, as_json = false;
};

void list(const ListArguments& arguments) {
  const std::string what = arguments.what == kOldBenchmarks ? "benchmarks" : arguments.what;
  const List& chosen = *std::ranges::find(lists(), what, &List::name);
  const json rows = chosen.rows();
  if (arguments.as_json) {
    print(rows);
    return;
  }
  std::vector<std::string> columns{"name"};
  columns.insert(columns.end(), chosen.columns.begin(), chosen.columns.end());
  columns.emplace_back("title");
  print_table(rows, arguments.wide ? all_columns(rows) : columns);
}

}  // namespace

void add_list(CLI::App& app, int&) {
  CLI::App* command = app.add_subcommand(
      "list",
      "Lists built-in profiles, file systems, stacks, workloads, campaigns, benchmarks, "
      "applications and experiments");
  const auto arguments = std::make_shared<ListArguments>();
  accept_only(command->add_option(
                  "WHAT", arguments->what,
                  "profiles, filesystems, stacks, systems (headcrash's own, under every scheme), "
                  "workloads, campaigns, benchmarks, applications, experiments, or timed (timed "
                  "workloads)"),
              list_names())
      ->required();
  command->add_flag("--wide", arguments->wide, "Show every column");
  command->add_flag("--json", arguments->as_json, "Print the list as JSON");
  command->footer(
      "Examples:\n  headcrash list profiles\n  headcrash list profiles --wide\n"
      "  headcrash list filesystems --json");
  command->callback([arguments] { list(*arguments); });
}

}  // namespace headcrash::cli
