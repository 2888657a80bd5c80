#pragma once
// A benchmark: the file systems, devices and timed workloads that it combines, and the number of
// repetitions.
//
//   [[workload]] name = "postmark", transactions = [1000, 4000]   defines two workloads
//   filesystems x [[device]] profiles x workloads                 are the cells
//   cells x repetitions                                           are the trials
//
// Cells that differ only in the file system form a group. The cells of a group are compared with
// each other.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fs-adapters/linux/adapter.h"
#include "harness/bench/tool.h"
#include "harness/run/guest_kind.h"
#include "harness/workload/timed/timed_workload.h"
#include "plugin/base/result.h"
#include "plugin/profiles/clock_text.h"
#include "plugin/profiles/device_options.h"

namespace headcrash::bench {

struct BenchDevice {
  std::string name;  ///< name in keys and in the database; by default the profile's name
  std::string profile;
  std::uint64_t size_bytes = 0;
  profiles::DeviceOptions options{};
  std::string clock;  ///< clock during measured phases: "real" or "real:K"
};

/// A workload with a specific value for each parameter. A workload of the file with lists of values
/// yields several of these.
struct BenchWorkload {
  std::string name;   ///< for example "lfs-small-file" or, for a tool, "fio-random-write"
  std::string scale;  ///< exact, scaled or custom
  std::string label;  ///< name used in keys: "lfs-small-file.scaled.files=500"
  const timed::TimedWorkload* timed = nullptr;  ///< null for a benchmark program (`tool`)
  timed::Arguments arguments;
  std::optional<ToolJob> tool;
  /// Duration of a trial in seconds, as estimated in the file; 0 if the file has no estimate.
  double expected_s = 0;
  /// The devices on which the workload runs; empty for all devices.
  std::vector<std::string> devices;
  /// Names of the file systems on which the workload runs, without "@KERNEL"; empty for all file
  /// systems.
  std::vector<std::string> filesystems;
  bool runs_on(const std::string& device) const;
  bool runs_with(const adapters::LinuxAdapter& filesystem) const;
};

/// Returns the arguments as text, for example "files=1000 users=4". For a tool, returns its job's
/// digest.
std::string parameters_text(const BenchWorkload& workload);

/// A benchmark file. benches/quick.toml explains keys and defaults.
struct Bench {
  std::string name, title;
  std::string takes;  ///< how long the benchmark takes, and on which machine, in words
  std::string text;   ///< the file's text, stored in the database
  std::uint64_t seed = 1;
  std::vector<adapters::LinuxAdapter> filesystems;
  std::vector<BenchDevice> devices;
  std::vector<BenchWorkload> workloads;
  std::int64_t least = 3, most = 10;  ///< number of repetitions per cell
  /// Target precision: half the width of the mean's 95 % confidence interval, divided by the mean.
  double interval = 0.05;
  /// If true, guests run under user-mode Linux, and the clocks in the file are ignored.
  bool virtual_time = false;
  double charge = 0;  ///< virtual nanoseconds charged per nanosecond of host processor time
  std::string clock = "real";  ///< default for devices that do not set a clock
  profiles::Clock setup_clock = profiles::kClockOff;
  bool quiescence = true;  ///< after each measured phase, wait until all data has been written
  std::int64_t memory_mib = 384;
  /// Time limit for a phase or command. A phase or command that takes longer counts as a hang.
  std::int64_t step_timeout_s = 600;
};

/// Loads a built-in benchmark by name, or a file by path (a name with '/' or ending in .toml).
/// `guests` overrides the file's settings.
Result<Bench> load_bench(const std::string& name_or_path, const run::OtherGuests& guests = {});
Result<Bench> parse_bench(const std::string& text, const std::string& file_name);

struct BenchSummary {
  std::string name, title, takes;
  std::size_t cells = 0, trials_least = 0, trials_most = 0;
};
std::vector<BenchSummary> built_in_benches();

/// Returns a digest of all settings that affect the trials. --resume finds a run by this digest.
std::string bench_digest(const Bench& bench);

}  // namespace headcrash::bench
