#pragma once
// Benchmark programs from the distribution as workloads. The guest runs the host's unmodified
// program, which is packed into the guest image with its libraries. The results are those that the
// program reports.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "harness/bench/fio_job.h"
#include "plugin/base/result.h"
#include "plugin/base/strict_table.h"
#include "results/db/database.h"

namespace headcrash::bench {

struct ToolJob {
  std::string tool;  ///< fio, postmark, dbench, fs_mark, sqlite, compile
  /// Contents of the job file: a fio job, commands, a loadfile or SQL; empty for fs_mark.
  std::string job;
  std::vector<std::string> options;  ///< additional arguments on the tool's command line
  FioExtras fio;                     ///< request logs and limits of a fio job
};

/// The commands that run a tool in the guest. In `argv` and `prepare`, `{root}` stands for the
/// mount point and `{job}` for the path of the job file.
struct ToolCommand {
  std::vector<std::string> argv;
  /// A command that runs before the tool and is not measured; may be empty.
  std::vector<std::string> prepare;
  std::string job_text;
  std::string job_path;  ///< the job file's path; empty if absent
  /// Path and contents of each further file.
  std::vector<std::pair<std::string, std::string>> more_files;
  std::string report_path;  ///< path of the tool's report; empty if it goes to standard output
};

struct ToolReport {
  std::string operation = "operations";
  std::int64_t operations = 0, bytes_read = 0, bytes_written = 0;
  std::vector<db::MetricRecord> metrics;
};

/// Parses the keys of a [[workload]] that has the key `tool`. If the tool is unknown, the error
/// suggests a known one. `job-file` is relative to `folder`.
Result<ToolJob> parse_tool(const base::StrictTable& table, const std::filesystem::path& folder);
/// Returns the keys that parse_tool() reads.
std::vector<std::string> tool_keys();

/// Returns the path of the tool's program on the host. If it is not installed, the error names the
/// package to install.
Result<std::string> tool_program(const ToolJob& job);

ToolCommand tool_command(const ToolJob& job, const std::string& root);

/// Parses a tool's output. Fails if the output is not a report from this tool.
Result<ToolReport> parse_report(const ToolJob& job, const std::string& text);

}  // namespace headcrash::bench
