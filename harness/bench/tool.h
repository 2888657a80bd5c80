#pragma once
// Benchmark programs of the distribution as workloads. The guest runs the host's unmodified
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

/// A tool and its job.
struct ToolJob {
  std::string tool;  ///< fio, postmark, dbench, fs_mark, sqlite, compile
  std::string job;   ///< content of the job file: job, commands, load or SQL; empty for fs_mark
  std::vector<std::string> options;  ///< additional command-line arguments
  FioExtras fio;                     ///< request logs and limits of a fio job
};

/// The commands that run a tool in the guest. `{root}` is the mount point, `{job}` the path of the
/// job file.
struct ToolCommand {
  std::vector<std::string> argv;
  std::vector<std::string> prepare;  ///< command run before the tool, not measured; may be empty
  std::string job_text;              ///< content of the job file
  std::string job_path;              ///< path of the job file; empty if absent
  std::vector<std::pair<std::string, std::string>> more_files;  ///< further files: path and content
  std::string report_path;  ///< path of the tool's report; empty for standard output
};

/// The results that a tool reports.
struct ToolReport {
  std::string operation = "operations";
  std::int64_t operations = 0, bytes_read = 0, bytes_written = 0;
  std::vector<db::MetricRecord> metrics;
};

/// Parses the keys of a [[workload]] that contains the key `tool`. For an unknown tool, the error
/// suggests a known one. `job-file` is relative to `folder`.
Result<ToolJob> parse_tool(const base::StrictTable& table, const std::filesystem::path& folder);
/// Returns the keys that parse_tool() reads.
std::vector<std::string> tool_keys();

/// Returns the path of the tool on the host. If the tool is missing, the error names its package.
Result<std::string> tool_program(const ToolJob& job);

ToolCommand tool_command(const ToolJob& job, const std::string& root);

/// Parses the output of a tool. Fails if the output is not a report of this tool.
Result<ToolReport> parse_report(const ToolJob& job, const std::string& text);

}  // namespace headcrash::bench
