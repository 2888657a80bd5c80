#pragma once
// A benchmark: which file systems on which devices do which timed workloads, and how often.
//
//   [[workload]] name = "postmark", transactions = [1000, 4000]   two workloads of the matrix
//   filesystems x [[device]] profiles x workloads                 its cells
//   cells x repetitions                                           its trials
//
// Cells that differ in nothing but the file system form a group: they are what is compared.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fs-adapters/linux/adapter.h"
#include "harness/bench/tool.h"
#include "harness/run/guest_kind.h"
#include "harness/workload/timed/timed_workload.h"
#include "plugin/base/result.h"

namespace headcrash::bench {

struct BenchDevice {
  std::string name;  ///< in keys and in the database: the profile's, unless the file gives another
  std::string profile;
  std::uint64_t size_bytes = 0;
  std::optional<bool> write_cache;  ///< none: as the profile says
  std::string clock;                ///< while something is measured: "real" or "real:K"
};

/// One workload of the matrix: each of its parameters has one value.
struct BenchWorkload {
  std::string name;                             ///< "lfs-small-file"; of a tool: "fio-random-write"
  std::string scale;                            ///< exact, scaled, custom
  std::string label;                            ///< in keys: "lfs-small-file.scaled.files=500"
  const timed::TimedWorkload* timed = nullptr;  ///< null: a tool's
  timed::Arguments arguments;
  std::optional<ToolJob> tool;
  double expected_s = 0;  ///< a trial takes about as long, says the file; 0: it does not say
  std::vector<std::string> devices;      ///< names of those it runs on; empty: on all
  std::vector<std::string> filesystems;  ///< likewise, without a kernel's "@6.12"
  bool runs_on(const std::string& device) const;
  bool runs_with(const adapters::LinuxAdapter& filesystem) const;
};

/// "files=1000 users=4"; for a tool the digest of its job.
std::string parameters_text(const BenchWorkload& workload);

/// Keys and defaults are explained in benches/quick.toml.
struct Bench {
  std::string name, title;
  std::string takes;  ///< how long, roughly and on what, in words
  std::string text;   ///< the file itself, kept in the database
  std::uint64_t seed = 1;
  std::vector<adapters::LinuxAdapter> filesystems;
  std::vector<BenchDevice> devices;
  std::vector<BenchWorkload> workloads;
  std::int64_t least = 3, most = 10;  ///< repetitions of a cell
  double interval = 0.05;  ///< wanted half width of the mean's 95 % interval, relative to it
  bool virtual_time =
      false;  ///< guests of user-mode Linux: no clock of the file's is used, and none set
  double charge =
      0;  ///< with it: what a nanosecond that the host's processor takes for a guest is in its time
  std::string clock = "real";  ///< of devices that do not say
  std::string setup_clock = "off";
  bool quiescence = true;  ///< after each measured phase, until nothing is left to write
  std::int64_t memory_mib = 384;
  std::int64_t step_timeout_s = 600;  ///< a phase or command that takes longer is a hang
};

/// A built-in benchmark by name, or a file by path (any name with a '/' or ending in .toml).
/// `guests` has what is asked for in place of the file's own.
Result<Bench> load_bench(const std::string& name_or_path, const run::OtherGuests& guests = {});
Result<Bench> parse_bench(const std::string& text, const std::string& file_name);

struct BenchSummary {
  std::string name, title, takes;
  std::size_t cells = 0, trials_least = 0, trials_most = 0;
};
std::vector<BenchSummary> built_in_benches();

/// Of everything that shapes the trials: what --resume recognises an unfinished run by.
std::string bench_digest(const Bench& bench);

}  // namespace headcrash::bench
