#pragma once
// Benchmark programs of the distribution as workloads. A program runs in the guest unmodified, and
// its own results are read. The host's program and its libraries are packed into the guest image.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "harness/bench/fio_job.h"
#include "plugin/base/result.h"
#include "plugin/base/strict_table.h"
#include "results/db/database.h"

namespace headcrash::bench {

/// The job of a tool.
struct ToolJob {
  std::string tool;                  ///< fio, postmark, dbench, fs_mark, sqlite, compile
  std::string job;                   ///< job file, commands, load or SQL; empty for fs_mark
  std::vector<std::string> options;  ///< additional words for its command line
  FioExtras fio;                     ///< extras of a fio job
};

/// The commands for the guest. `{root}` is the mount point, `{job}` the job's file.
struct ToolCommand {
  std::vector<std::string> argv;
  std::vector<std::string> prepare;  ///< command run before the tool, not measured; may be empty
  std::string job_text;              ///< text of the job's file
  std::string job_path;              ///< path of the job's file; empty if none
  std::vector<std::pair<std::string, std::string>> more_files;  ///< path and text
  std::string report_path;  ///< path of the tool's report; empty for standard output
};

/// The results that a tool reports.
struct ToolReport {
  std::string operation = "operations";
  std::int64_t operations = 0, bytes_read = 0, bytes_written = 0;
  std::vector<db::MetricRecord> metrics;
};

/// Parses the keys of a [[workload]] that has the key `tool`. Errors suggest the nearest tool.
/// `job-file` is relative to `folder`.
Result<ToolJob> parse_tool(const base::StrictTable& table, const std::filesystem::path& folder);
/// Returns the keys that parse_tool() reads.
std::vector<std::string> tool_keys();

/// Returns the tool's path on the host. Errors name its package.
Result<std::string> tool_program(const ToolJob& job);

ToolCommand tool_command(const ToolJob& job, const std::string& root);

/// Parses the tool's output. Fails if it is not a report of this tool.
Result<ToolReport> parse_report(const ToolJob& job, const std::string& text);

}  // namespace headcrash::bench
