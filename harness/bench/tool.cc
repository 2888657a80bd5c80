// Command lines and reports of benchmark programs (tool.h).
//
// fio       its JSON (fio(1), --output-format=json): each job's direction has operations, bytes, rate, and
// the
//           distribution of completion times
// postmark  the text of version 1.5: "\t4 seconds of transactions (1250 per second)"
// dbench    "Throughput 12.3 MB/sec  4 clients  4 procs  max_latency=61.2 ms"
// fs_mark   a table: FSUse%  Count  Size  Files/sec  App Overhead
#include "harness/bench/tool.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "plugin/config/nearest.h"
#include "plugin/model/simulation.h"

namespace headcrash::bench {
namespace {

using nlohmann::json;

using model::kNsPerMs;
constexpr double kBytesPerMb = 1e6, kBytesPerMib = 1 << 20;
constexpr const char* kFolder = "/run/bench";
constexpr std::size_t kJobMost = 256 << 10;

struct KnownTool {
  const char *name, *package;
  bool needs_job;
  std::vector<std::string> argv;  ///< {root}, {job}, {report}
  bool report_in_file;
  ToolReport (*parse)(const std::string& text);
};

double number(const std::string& text) {
  return std::strtod(text.c_str(), nullptr);
}

std::string first_word(const json& value) {
  return value.is_string() ? value.get<std::string>() : "";
}

/// One direction of one job.
void add_fio(const json& direction, const std::string& prefix, ToolReport& report) {
  const auto operations = direction.value("total_ios", std::int64_t{0});
  if (operations == 0) return;
  report.operations += operations;
  const auto add = [&](const char* name, const char* unit, double value) {
    report.metrics.push_back({prefix + "." + name, unit, value});
  };
  add("iops", "1/s", direction.value("iops", 0.0));
  add("bandwidth", "bytes/s", direction.value("bw_bytes", 0.0));
  const json latency = direction.value("clat_ns", json::object());
  add("latency.mean", "ms", latency.value("mean", 0.0) / kNsPerMs);
  add("latency.max", "ms", latency.value("max", 0.0) / kNsPerMs);
  const json percentiles = latency.value("percentile", json::object());
  for (const auto& [key, name] : {std::pair{"50.000000", "latency.p50"}, {"99.000000", "latency.p99"}}) {
    if (percentiles.contains(key)) add(name, "ms", percentiles[key].get<double>() / kNsPerMs);
  }
}

/// Warnings may stand before the JSON. Throws json::exception.
ToolReport parse_fio(const std::string& text) {
  const std::size_t begin = text.find('{');
  const json all = json::parse(begin == std::string::npos ? text : text.substr(begin));
  ToolReport report{.operation = "I/Os"};
  std::vector<std::string> names;
  for (const json& job : all.at("jobs")) {
    std::string name = first_word(job.at("jobname"));
    if (const auto error = job.value("error", 0); error != 0)
      throw std::invalid_argument(fmt::format("job {} ended with error {}", name, error));
    const auto same = std::count(names.begin(), names.end(), name);
    names.push_back(name);
    if (same > 0) name += fmt::format("#{}", same);
    for (const char* direction : {"read", "write", "trim"}) {
      if (job.contains(direction)) add_fio(job[direction], fmt::format("fio.{}.{}", name, direction), report);
    }
    report.bytes_read += job.value("read", json::object()).value("io_bytes", std::int64_t{0});
    report.bytes_written += job.value("write", json::object()).value("io_bytes", std::int64_t{0});
  }
  return report;
}

/// The first group of the first match. Throws when there is none.
double find_number(const std::string& text, const char* pattern, const char* what) {
  std::smatch match;
  if (!std::regex_search(text, match, std::regex(pattern)))
    throw std::invalid_argument(std::string("tells no ") + what);
  return number(match[1]);
}

/// "27.74 megabytes", as postmark writes bytes (powers of 1024).
double find_bytes(const std::string& text, const char* direction) {
  const std::regex pattern(std::string("([0-9.]+) (bytes|kilobytes|megabytes|gigabytes) ") + direction);
  std::smatch match;
  if (!std::regex_search(text, match, pattern)) return 0;
  const std::string unit = match[2];
  const double factor = unit == "bytes"       ? 1
                        : unit == "kilobytes" ? 1024
                        : unit == "megabytes" ? kBytesPerMib
                                              : kBytesPerMib * 1024;
  return number(match[1]) * factor;
}

ToolReport parse_postmark(const std::string& text) {
  ToolReport report{.operation = "transactions"};
  const double seconds = find_number(text, "([0-9.]+) seconds of transactions", "time of transactions");
  const double rate =
      find_number(text, "seconds of transactions \\(([0-9.]+) per second\\)", "transaction rate");
  report.operations = static_cast<std::int64_t>(rate * seconds);
  report.bytes_read = static_cast<std::int64_t>(find_bytes(text, "read"));
  report.bytes_written = static_cast<std::int64_t>(find_bytes(text, "written"));
  report.metrics = {{"postmark.transactions", "1/s", rate},
                    {"postmark.created", "1/s",
                     find_number(text, "[0-9]+ created \\(([0-9.]+) per second\\)", "files created")},
                    {"postmark.deleted", "1/s",
                     find_number(text, "[0-9]+ deleted \\(([0-9.]+) per second\\)", "files deleted")}};
  return report;
}

ToolReport parse_dbench(const std::string& text) {
  ToolReport report{.operation = "operations"};
  report.metrics = {{"dbench.throughput", "bytes/s",
                     find_number(text, "Throughput ([0-9.]+) MB/sec", "throughput") * kBytesPerMb},
                    {"dbench.latency.max", "ms", find_number(text, "max_latency=([0-9.]+) ms", "latency")}};
  std::istringstream lines(text);
  const std::regex operation("^ *([A-Za-z]+[A-Za-z0-9]*) +([0-9]+) +([0-9.]+) +([0-9.]+) *$");
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (std::regex_match(line, match, operation))
      report.operations += static_cast<std::int64_t>(number(match[2]));
  }
  return report;
}

ToolReport parse_fs_mark(const std::string& text) {
  ToolReport report{.operation = "files"};
  std::istringstream lines(text);
  const std::regex row("^ *([0-9]+) +([0-9]+) +([0-9]+) +([0-9.]+) +([0-9]+) *$");
  double rates = 0;
  int rows = 0;
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (!std::regex_match(line, match, row)) continue;
    report.operations = static_cast<std::int64_t>(number(match[2]));  // counted up from row to row
    report.bytes_written = report.operations * static_cast<std::int64_t>(number(match[3]));
    rates += number(match[4]);
    ++rows;
  }
  if (rows == 0) throw std::invalid_argument("tells no rate");
  report.metrics = {{"fs_mark.files", "1/s", rates / rows}};
  return report;
}

const std::vector<KnownTool>& known_tools() {
  static const std::vector<KnownTool> kAll{
      {"fio",
       "fio",
       true,
       {"fio", "--output-format=json", "--output={report}", "--directory={root}", "{job}"},
       true,
       parse_fio},
      {"postmark", "postmark", true, {"postmark", "{job}"}, false, parse_postmark},
      {"dbench", "dbench", true, {"dbench", "-c", "{job}", "-D", "{root}"}, false, parse_dbench},
      {"fs_mark", "fsmark", false, {"fs_mark", "-d", "{root}/fs_mark"}, false, parse_fs_mark},
  };
  return kAll;
}

const KnownTool* find_tool(const std::string& name) {
  for (const KnownTool& each : known_tools()) {
    if (name == each.name) return &each;
  }
  return nullptr;
}

std::string filled_in(std::string word, const std::string& root, const std::string& job,
                      const std::string& report) {
  for (const auto& [place, value] :
       {std::pair<const char*, const std::string&>{"{root}", root}, {"{job}", job}, {"{report}", report}}) {
    for (std::size_t at = word.find(place); at != std::string::npos; at = word.find(place, at + value.size()))
      word.replace(at, std::string_view(place).size(), value);
  }
  return word;
}

}  // namespace

std::vector<std::string> tool_keys() {
  return {"tool", "job", "options"};
}

Result<ToolJob> take_tool(const config::StrictTable& table) {
  ToolJob job;
  for (const auto& read :
       {table.take("tool", job.tool), table.take("job", job.job), table.take("options", job.options)}) {
    if (!read) return pass_on(read);
  }
  const KnownTool* tool = find_tool(job.tool);
  if (tool == nullptr) {
    std::vector<std::string> names;
    for (const KnownTool& each : known_tools()) names.emplace_back(each.name);
    return fail(table.subject("tool"), fmt::format("\"{}\" is unknown", job.tool),
                config::suggest(job.tool, names));
  }
  if (tool->needs_job && job.job.empty())
    return fail(table.subject("job"), "is missing",
                fmt::format("write what {} is to do: job = \"\"\"...\"\"\"", job.tool));
  if (!tool->needs_job && !job.job.empty())
    return fail(table.subject("job"), fmt::format("{} takes none", job.tool), "use options = [\"...\"]");
  if (job.job.size() > kJobMost)
    return fail(table.subject("job"), fmt::format("is longer than {} KiB", kJobMost >> 10));
  return job;
}

Result<std::string> tool_program(const ToolJob& job) {
  const KnownTool& tool = *find_tool(job.tool);
  const char* path = std::getenv("PATH");
  std::istringstream folders(std::string(path == nullptr ? "" : path) + ":/usr/sbin:/sbin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string program = folder + "/" + tool.name;
    if (!folder.empty() && ::access(program.c_str(), X_OK) == 0) return program;
  }
  return fail(job.tool, "is not installed here, and so cannot be in the guest",
              fmt::format("install the package {} (scripts/setup does)", tool.package));
}

ToolCommand tool_command(const ToolJob& job, const std::string& root) {
  const KnownTool& tool = *find_tool(job.tool);
  ToolCommand command;
  if (tool.needs_job) command.job_path = fmt::format("{}/{}.job", kFolder, job.tool);
  if (tool.report_in_file) command.report_path = fmt::format("{}/{}.report", kFolder, job.tool);
  for (const std::string& word : tool.argv)
    command.argv.push_back(filled_in(word, root, command.job_path, command.report_path));
  for (const std::string& word : job.options)
    command.argv.push_back(filled_in(word, root, command.job_path, command.report_path));
  return command;
}

Result<ToolReport> parse_report(const ToolJob& job, const std::string& text) {
  try {
    return find_tool(job.tool)->parse(text);
  } catch (
      const std::exception& error) {  // of the JSON library, of regular expressions, of the parsers above
    constexpr std::size_t kShown = 400;
    return fail("report of " + job.tool, error.what(),
                "it wrote: " + text.substr(0, std::min(text.size(), kShown)));
  }
}

}  // namespace headcrash::bench
