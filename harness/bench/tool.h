#pragma once
// A benchmark program of the distribution as a workload: run in the guest as people run it there,
// its own figures read. The host's program is packed into the guest's image, with its libraries.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "harness/bench/fio_job.h"
#include "plugin/base/result.h"
#include "plugin/base/strict_table.h"
#include "results/db/database.h"

namespace headcrash::bench {

/// What a tool is to do.
struct ToolJob {
  std::string tool;  ///< fio, postmark, dbench, fs_mark, sqlite, compile
  std::string job;   ///< fio's job file, postmark's commands, dbench's load, SQL; none for fs_mark
  std::vector<std::string> options;  ///< more words for its command line
  FioExtras fio;                     ///< of fio's job
};

/// What is asked of the guest for it. `{root}` is the mount point, `{job}` the job's file.
struct ToolCommand {
  std::vector<std::string> argv;
  std::vector<std::string> prepare;  ///< before it, not measured; empty: nothing
  std::string job_text;              ///< what is put there
  std::string job_path;              ///< where the job is put; empty: nowhere
  std::vector<std::pair<std::string, std::string>> more_files;  ///< path and text
  std::string report_path;  ///< where the tool leaves its report; empty: on standard output
};

/// What it told.
struct ToolReport {
  std::string operation = "operations";
  std::int64_t operations = 0, bytes_read = 0, bytes_written = 0;
  std::vector<db::MetricRecord> metrics;
};

/// Reads the keys of a [[workload]] with `tool`; the key `tool` itself is there. Errors name the
/// nearest tool. A `job-file` is looked for in the folder `beside`.
Result<ToolJob> take_tool(const base::StrictTable& table, const std::filesystem::path& beside);
/// Keys that take_tool() reads.
std::vector<std::string> tool_keys();

/// Where the host has it. Errors name its package.
Result<std::string> tool_program(const ToolJob& job);

ToolCommand tool_command(const ToolJob& job, const std::string& root);

/// From what the tool wrote. Errors: it is not what this tool writes.
Result<ToolReport> parse_report(const ToolJob& job, const std::string& text);

}  // namespace headcrash::bench
