// Parses benchmark files (bench_file.h).
#include "harness/bench/bench_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "harness/bench/plan.h"
#include "harness/run/guest_kind.h"
#include "harness/run/text_hash.h"
#include "headcrash_bench_embedded.h"
#include "plugin/base/named_file.h"
#include "plugin/base/nearest.h"
#include "plugin/base/strict_table.h"
#include "plugin/base/text_file.h"
#include "plugin/model/core/store.h"
#include "plugin/profiles/clock_text.h"
#include "plugin/profiles/profile.h"

namespace headcrash::bench {
namespace {

using base::StrictTable;
using model::kSectorBytes;

/// Limits the number of workloads, because there is one for every combination of parameter values.
constexpr std::size_t kWorkloadsMost = 1000;
constexpr double kNarrowest = 0.001, kWidest = 1;

/// Prefixes an error with the key whose value is wrong.
tl::unexpected<Error> within(const std::string& subject, const Error& error) {
  return tl::unexpected(Error{subject + ": " + error.subject, error.problem, error.hint});
}

// ---- clocks and devices

/// Parses `clock`. If the table lacks the key, leaves `clock` unchanged.
Result<void> parse_timing_clock(const StrictTable& table, std::string& clock) {
  TRY(table.take("clock", clock));
  TRY(const auto parsed, profiles::parse_clock(clock, table.subject("clock")));
  if (parsed.kind == profiles::Clock::Kind::off)
    return fail(table.subject("clock"), "a benchmark cannot run with the clock off",
                "use real, or real:K for devices that are too fast for the host");
  return {};
}

Result<void> read_one_device(const StrictTable& table, Bench& bench) {
  TRY(table.only(profiles::with_device_options({"name", "profiles", "size", "clock"},
                                               profiles::PowerCuts::never)));
  BenchDevice like{.size_bytes = std::uint64_t{512} << 20, .clock = bench.clock};
  std::vector<std::string> profiles;
  for (const auto& read :
       {table.take("name", like.name), table.take("profiles", profiles),
        table.take_size("size", like.size_bytes), parse_timing_clock(table, like.clock),
        profiles::read_device_options(table, like.options, profiles::PowerCuts::never)}) {
    if (!read) return read;
  }
  if (profiles.empty())
    return fail(table.subject("profiles"), "is missing", "use profiles = [\"hp-c2447\"]");
  if (!like.name.empty() && profiles.size() > 1)
    return fail(table.subject("name"), "needs exactly one profile",
                "use one [[device]] table for each profile");
  if (like.name.find('/') != std::string::npos)
    return fail(table.subject("name"), "contains a '/', which separates the parts of a trial's key",
                "use '-' instead");
  for (const std::string& profile : profiles) {
    const auto summary = profiles::summarise_profile(profile);
    if (!summary) return within(table.subject("profiles"), summary.error());
    if (like.size_bytes / kSectorBytes > summary->capacity_sectors) {
      return fail(table.subject("size"),
                  fmt::format("{} holds only {} MiB", profile,
                              summary->capacity_sectors * kSectorBytes >> 20),
                  "use a smaller size");
    }
    BenchDevice device = like;
    device.profile = profile;
    if (device.name.empty()) device.name = std::filesystem::path(profile).stem();
    for (const BenchDevice& other : bench.devices) {
      if (other.name == device.name)
        return fail(table.subject("profiles"),
                    fmt::format("two devices have the name \"{}\"", device.name),
                    "give one of them a different name = \"...\"");
    }
    bench.devices.push_back(std::move(device));
  }
  return {};
}

Result<void> read_devices(const StrictTable& root, Bench& bench) {
  TRY(const auto tables, root.tables("device"));
  if (tables.empty())
    return fail(root.subject("device"), "is missing",
                "add a [[device]] table with profiles = [\"hp-c2447\"]");
  for (const StrictTable& table : tables) {
    TRY(read_one_device(table, bench));
  }
  return {};
}

// ---- workloads

/// Parses a parameter's values: `files = 100` or `files = [100, 200]`.
Result<std::vector<std::int64_t>> parse_values(const StrictTable& table, const std::string& key) {
  std::int64_t one = 0;
  if (table.take(key, one, {.least = INT64_MIN, .most = INT64_MAX})) return std::vector{one};
  std::vector<double> many;
  std::vector<std::int64_t> values;
  if (table.take(key, many)) {
    for (const double value : many) {
      if (value != std::floor(value) || std::abs(value) > 1e15) break;
      values.push_back(static_cast<std::int64_t>(value));
    }
    const std::set<std::int64_t> different(values.begin(), values.end());
    if (values.size() == many.size() && different.size() == values.size()) return values;
  }
  return fail(table.subject(key), "must be a whole number or a list of distinct whole numbers",
              fmt::format("use {0} = 100 or {0} = [100, 200]", key));
}

Result<std::vector<timed::Arguments>> combinations(const StrictTable& table,
                                                   const std::vector<std::string>& parameters) {
  std::vector<timed::Arguments> all{{}};
  for (const std::string& key : parameters) {
    if (!table.has(key)) continue;
    TRY(const auto values, parse_values(table, key));
    std::vector<timed::Arguments> longer;
    for (const timed::Arguments& so_far : all) {
      for (const std::int64_t value : values) {
        longer.push_back(so_far);
        longer.back()[key] = value;
      }
    }
    if (longer.size() > kWorkloadsMost)
      return fail(table.subject(key),
                  fmt::format("results in more than {} workloads", kWorkloadsMost),
                  "use fewer values");
    all = std::move(longer);
  }
  return all;
}

Result<void> read_timed(const StrictTable& table, Bench& bench) {
  BenchWorkload like{.scale = "exact"};
  for (const auto& read : {table.take("name", like.name), table.take("scale", like.scale),
                           table.take("takes-s", like.expected_s)}) {
    if (!read) return read;
  }
  if (like.name.empty())
    return fail(table.subject("name"), "is missing",
                "use a timed workload (see headcrash list timed) or a tool");
  const auto found = timed::find_timed_workload(like.name);
  if (!found) return within(table.subject("name"), found.error());
  like.timed = *found;
  if (like.scale != "exact" && like.scale != "scaled")
    return fail(table.subject("scale"), fmt::format("unknown scale \"{}\"", like.scale),
                "use scale = \"exact\" or \"scaled\"");
  const bool scaled = like.scale == "scaled";
  std::vector<std::string> parameters,
      allowed{"name", "scale", "takes-s", "devices", "filesystems"};
  for (const timed::Parameter& each : like.timed->parameters) parameters.emplace_back(each.name);
  allowed.insert(allowed.end(), parameters.begin(), parameters.end());
  TRY(table.only(allowed));
  TRY(const auto usual, timed::arguments_of(*like.timed, scaled, {}, table.subject("name")));
  TRY(const auto all, combinations(table, parameters));
  for (const timed::Arguments& replaced : all) {
    BenchWorkload workload = like;
    TRY(auto arguments,
        timed::arguments_of(*like.timed, scaled, replaced, table.subject(like.name)));
    workload.arguments = std::move(arguments);
    workload.label = like.name + "." + like.scale;
    for (const auto& [key, value] : workload.arguments) {
      if (usual.at(key) == value) continue;
      workload.label += fmt::format(".{}={}", key, value);
      workload.scale = "custom";
    }
    bench.workloads.push_back(std::move(workload));
  }
  return {};
}

Result<void> read_tool(const StrictTable& table, const std::filesystem::path& folder,
                       Bench& bench) {
  std::vector<std::string> allowed{"name", "takes-s", "devices", "filesystems"};
  const std::vector<std::string> keys = tool_keys();
  allowed.insert(allowed.end(), keys.begin(), keys.end());
  TRY(table.only(allowed));
  TRY(auto job, parse_tool(table, folder));
  BenchWorkload workload{.scale = "custom"};
  for (const auto& read :
       {table.take("name", workload.name), table.take("takes-s", workload.expected_s)}) {
    if (!read) return read;
  }
  if (workload.name.find_first_of("/ ") != std::string::npos)
    return fail(table.subject("name"), "contains a '/' or a blank", "use '-' instead");
  if (std::string file; workload.name.empty() && table.has("job-file")) {
    TRY(table.take("job-file", file));
    workload.name = std::filesystem::path(file).stem().string();
    std::ranges::replace(workload.name, ' ', '-');
  }
  workload.name = workload.name.empty() ? job.tool : job.tool + "-" + workload.name;
  workload.label = workload.name;
  workload.tool = std::move(job);
  bench.workloads.push_back(std::move(workload));
  return {};
}

/// Parses a list of names. Rejects an unknown name such as "sata-7300" and suggests "sata-7200".
Result<std::vector<std::string>> names_among(const StrictTable& table, const char* key,
                                             const char* noun,
                                             const std::vector<std::string>& known) {
  std::vector<std::string> names;
  TRY(table.take(key, names));
  for (const std::string& name : names) {
    if (std::ranges::find(known, name) != known.end()) continue;
    return fail(table.subject(key), fmt::format("this file has no {} named \"{}\"", noun, name),
                base::suggest(name, known));
  }
  return names;
}

bool share_a_cell(const BenchWorkload& one, const BenchWorkload& other) {
  const auto meet = [](const std::vector<std::string>& some,
                       const std::vector<std::string>& others) {
    return some.empty() || others.empty() || std::ranges::find_first_of(some, others) != some.end();
  };
  return meet(one.devices, other.devices) && meet(one.filesystems, other.filesystems);
}

Result<void> read_workloads(const StrictTable& root, const std::filesystem::path& folder,
                            Bench& bench) {
  TRY(const auto tables, root.tables("workload"));
  if (tables.empty())
    return fail(root.subject("workload"), "is missing",
                "add a [[workload]] table with name = \"lfs-small-file\"");
  std::vector<std::string> all_devices, all_filesystems;
  for (const BenchDevice& device : bench.devices) all_devices.push_back(device.name);
  for (const adapters::LinuxAdapter& each : bench.filesystems)
    all_filesystems.push_back(adapters::name_without_kernel(each.name));
  for (const StrictTable& table : tables) {
    const std::size_t before = bench.workloads.size();
    TRY(const auto devices, names_among(table, "devices", "device", all_devices));
    TRY(const auto filesystems, names_among(table, "filesystems", "file system", all_filesystems));
    const auto read =
        table.has("tool") ? read_tool(table, folder, bench) : read_timed(table, bench);
    if (!read) return read;
    if (bench.workloads.size() > kWorkloadsMost)
      return fail(root.subject("workload"),
                  fmt::format("results in more than {} workloads", kWorkloadsMost),
                  "use fewer workloads or parameter values");
    for (std::size_t i = before; i < bench.workloads.size(); ++i) {
      bench.workloads[i].devices = devices;
      bench.workloads[i].filesystems = filesystems;
      for (std::size_t j = 0; j < before; ++j) {
        if (bench.workloads[i].label == bench.workloads[j].label &&
            share_a_cell(bench.workloads[i], bench.workloads[j]))
          return fail(table.subject("name"),
                      fmt::format("\"{}\" is listed twice", bench.workloads[i].label),
                      "omit one, or distinguish them by a parameter, devices, file systems or a "
                      "tool's name = \"...\"");
      }
    }
  }
  return {};
}

// ---- file systems, guests and repetitions

Result<void> read_filesystems(const StrictTable& root, Bench& bench) {
  std::vector<std::string> names, kernels;
  TRY(root.take("filesystems", names));
  TRY(root.take("kernels", kernels));
  if (names.empty())
    return fail(root.subject("filesystems"), "is missing", "use filesystems = [\"ext4\"]");
  for (const std::string& name : adapters::under_kernels(names, kernels)) {
    auto adapter = adapters::load_adapter(name);
    if (!adapter) return within(root.subject("filesystems"), adapter.error());
    for (const BenchDevice& device : bench.devices) {
      if (adapter->minimum_size_bytes > device.size_bytes)
        return fail(
            root.subject("device.size"),
            fmt::format("{} needs at least {} MiB", name, adapter->minimum_size_bytes >> 20),
            fmt::format("increase {} or omit the file system", device.name));
    }
    if (adapter->log_size_bytes != 0)
      return fail(root.subject("filesystems") + ": " + name,
                  "needs a second device for its log, but a benchmark has only one", "omit it");
    if (adapter->stack)
      return fail(root.subject("filesystems") + ": " + name,
                  "is on a stack of disks, but a benchmark has only one disk",
                  "omit the stack; `headcrash explore --stack` checks its crash states");
    for (const auto& other : bench.filesystems) {
      if (other.name == adapter->name)
        return fail(root.subject("filesystems"), fmt::format("\"{}\" is listed twice", name));
    }
    bench.filesystems.push_back(std::move(*adapter));
  }
  return {};
}

Result<void> read_repetitions(const StrictTable& root, Bench& bench) {
  TRY(const auto table, root.table("repetitions"));
  if (!table) return {};
  for (const auto& read : {table->only({"least", "most", "interval"}),
                           table->take("least", bench.least, {.least = 1, .most = 1000}),
                           table->take("most", bench.most, {.least = 1, .most = 1000}),
                           table->take("interval", bench.interval)}) {
    if (!read) return read;
  }
  if (!table->has("most")) bench.most = std::max(bench.least, bench.most);
  if (bench.most < bench.least)
    return fail(table->subject("most"),
                fmt::format("is less than {}, the value of `least`", bench.least));
  if (bench.interval < kNarrowest || bench.interval > kWidest)
    return fail(table->subject("interval"),
                fmt::format("must be from {} to {}", kNarrowest, kWidest),
                "use interval = 0.05 for a mean within 5 %");
  return {};
}

Result<void> read_guest(const StrictTable& root, Bench& bench) {
  TRY(const auto table, root.table("guest"));
  if (!table) return {};
  for (const auto& read :
       {table->only({"kind", "charge", "memory-mib", "step-timeout-s"}),
        run::parse_guest_kind(*table, bench.virtual_time),
        run::parse_charge(*table, bench.virtual_time, bench.charge),
        table->take("memory-mib", bench.memory_mib, {.least = 64, .most = 65'536}),
        table->take("step-timeout-s", bench.step_timeout_s, {.least = 1, .most = 86'400})}) {
    if (!read) return read;
  }
  if (bench.virtual_time)
    for (BenchDevice& device : bench.devices) device.clock = run::virtual_clock(bench.charge);
  return {};
}

/// Rejects workloads that cannot run in the benchmark's kind of time.
///
/// In real time, rejects workloads that wait too long: a year of office work takes minutes in
/// virtual time, but a year in real time.
///
/// In virtual time, rejects fio, because fio keeps time with the processor's counter, which does
/// not stop when the virtual clock does. To calibrate the counter, fio also reads the clock until
/// 62 ms have passed, which takes minutes in virtual time.
Result<void> check_kind_of_time(const StrictTable& root, const Bench& bench) {
  for (const BenchWorkload& workload : bench.workloads) {
    if (bench.virtual_time && workload.tool && workload.tool->tool == "fio")
      return fail(
          root.subject("workload"),
          "fio measures time with the processor's counter, which virtual time cannot stop",
          "use another tool, or use real time: omit --guest virtual, and use kind = \"qemu\" under "
          "[guest]");
    if (bench.virtual_time || workload.timed == nullptr || !workload.timed->waits_s) continue;
    const std::uint64_t waits_s = workload.timed->waits_s(workload.arguments);
    if (waits_s >= static_cast<std::uint64_t>(bench.step_timeout_s))
      return fail(
          root.subject("workload"),
          fmt::format("a phase of {} waits for {} s, more than step-timeout-s allows in real time",
                      workload.label, waits_s),
          "use --guest virtual, or kind = \"virtual\" under [guest]");
  }
  return {};
}

Result<void> read_clocks(const StrictTable& root, Bench& bench) {
  TRY(parse_timing_clock(root, bench.clock));
  return profiles::take_clock(root, "setup-clock", bench.setup_clock);
}

}  // namespace

bool BenchWorkload::runs_on(const std::string& device) const {
  return devices.empty() || std::ranges::find(devices, device) != devices.end();
}

bool BenchWorkload::runs_with(const adapters::LinuxAdapter& filesystem) const {
  return filesystems.empty() ||
         std::ranges::find(filesystems, adapters::name_without_kernel(filesystem.name)) !=
             filesystems.end();
}

std::string parameters_text(const BenchWorkload& workload) {
  if (workload.tool) {
    return fmt::format("job={:016x}",
                       run::hash_text(fmt::format("{} {}{}", workload.tool->job,
                                                  fmt::join(workload.tool->options, " "),
                                                  fmt::join(workload.tool->fio.iologs, "")),
                                      0));
  }
  std::string text;
  for (const auto& [key, value] : workload.arguments)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", key, value);
  return text;
}

Result<Bench> parse_bench(const std::string& text, const std::string& file_name) {
  TRY(const auto root, StrictTable::parse(text, file_name));
  Bench bench{.name = std::filesystem::path(file_name).stem(), .text = text};
  std::int64_t seed = 1;
  for (const auto& read :
       {root.only({"title", "takes", "seed", "filesystems", "kernels", "clock", "setup-clock",
                   "quiescence", "device", "workload", "repetitions", "guest"}),
        root.take("title", bench.title), root.take("takes", bench.takes),
        root.take("seed", seed, {.least = 0, .most = INT64_MAX}),
        root.take("quiescence", bench.quiescence), read_clocks(root, bench),
        read_devices(root, bench), read_filesystems(root, bench),
        read_workloads(root, std::filesystem::path(file_name).parent_path(), bench),
        read_repetitions(root, bench), read_guest(root, bench), check_kind_of_time(root, bench)}) {
    TRY(read);
  }
  bench.seed = static_cast<std::uint64_t>(seed);
  if (bench.title.empty()) bench.title = bench.name;
  return bench;
}

Result<Bench> load_bench(const std::string& name_or_path, const run::OtherGuests& guests) {
  const auto parse = [&](const std::string& text, const std::string& file) -> Result<Bench> {
    TRY(const auto chosen, run::with_guests(text, file, guests));
    return parse_bench(chosen, file);
  };
  std::vector<std::string> names;
  for (const EmbeddedFile& file : embedded_files()) {
    if (file.name == name_or_path + ".toml")
      return parse(std::string(file.text), std::string(file.name));
    if (file.name.ends_with(".toml")) names.emplace_back(file.name.substr(0, file.name.rfind('.')));
  }
  if (!base::is_path(name_or_path)) {
    return fail("benchmark \"" + name_or_path + "\"", "unknown",
                base::suggest(name_or_path, names) + "; or give the path of a .toml file");
  }
  TRY(const auto text, base::read_text_file(name_or_path));
  return parse(text, name_or_path);
}

std::vector<BenchSummary> built_in_benches() {
  std::vector<BenchSummary> summaries;
  for (const EmbeddedFile& file : embedded_files()) {
    if (!file.name.ends_with(".toml")) continue;
    const auto bench = parse_bench(std::string(file.text), std::string(file.name));
    if (!bench) continue;
    const std::size_t cells = cells_of(*bench).size();
    summaries.push_back({bench->name, bench->title, bench->takes, cells,
                         cells * static_cast<std::size_t>(bench->least),
                         cells * static_cast<std::size_t>(bench->most)});
  }
  return summaries;
}

std::string bench_digest(const Bench& bench) {
  std::string shape = bench.name + "\n" + bench.text;
  for (const adapters::LinuxAdapter& each : bench.filesystems)
    shape += fmt::format("\n{} {} {} {} {}", each.name, each.type, each.mount_options,
                         fmt::join(each.mkfs.argv, " "), fmt::join(each.mount.argv, " "));
  for (const BenchWorkload& each : bench.workloads)
    shape += fmt::format("\n{} {}", each.label, parameters_text(each));
  return fmt::format("{:016x}", run::hash_text(shape, bench.seed));
}

}  // namespace headcrash::bench
