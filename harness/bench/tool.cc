// Command lines of benchmark programs, and parsers for their reports (tool.h). The reports are:
//
//   fio       JSON (fio(1), --output-format=json): for each direction of a job, the operations,
//             bytes, rate and distribution of completion times
//   postmark  the text of version 1.5: "\t4 seconds of transactions (1250 per second)"
//   dbench    "Throughput 12.3 MB/sec  4 clients  4 procs  max_latency=61.2 ms"
//   fs_mark   a table: FSUse%  Count  Size  Files/sec  App Overhead
//   sqlite    output requested at the end of the job: rows changed, and an integrity check
//   compile   the last line of tools/compile.sh
#include "harness/bench/tool.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <stdexcept>

#include "harness/bench/fio_job.h"
#include "harness/bench/usual_jobs.h"
#include "plugin/base/command_text.h"
#include "plugin/base/nearest.h"
#include "plugin/base/text_file.h"
#include "plugin/model/core/simulation.h"

namespace headcrash::bench {
namespace {

using nlohmann::json;

using model::kNsPerMs;
constexpr double kBytesPerMb = 1e6, kBytesPerMib = 1 << 20;
constexpr const char* kFolder = "/run/bench";
constexpr std::size_t kJobMost = 256 << 10;
constexpr double kDbenchSeconds = 600;  ///< default of dbench's option -t

enum class Job {
  usual,  ///< the user may give a job; otherwise the default job is used
  ours,   ///< the default job is always used; the user cannot supply one
  none
};

struct KnownTool {
  const char *name, *program, *package;
  Job job;
  std::vector<std::string> argv;  ///< may contain the placeholders {root}, {job}, {report}
  bool report_in_file;
  ToolReport (*parse)(const std::string& text);
  std::string (*own_job)() = nullptr;
  /// A command that runs before the measurement, with the same options as the tool.
  std::vector<std::string> prepare{};
  std::vector<std::string> usual_options{};  ///< default options
};

double number(const std::string& text) {
  return std::strtod(text.c_str(), nullptr);
}

std::string first_word(const json& value) {
  return value.is_string() ? value.get<std::string>() : "";
}

/// Adds the results for one direction (reads or writes) of one job.
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
  for (const auto& [key, name] :
       {std::pair{"50.000000", "latency.p50"}, {"99.000000", "latency.p99"}}) {
    if (percentiles.contains(key)) add(name, "ms", percentiles[key].get<double>() / kNsPerMs);
  }
}

/// Parses fio's JSON output. Ignores warnings before the JSON text. Throws json::exception.
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
      if (job.contains(direction))
        add_fio(job[direction], fmt::format("fio.{}.{}", name, direction), report);
    }
    report.bytes_read += job.value("read", json::object()).value("io_bytes", std::int64_t{0});
    report.bytes_written += job.value("write", json::object()).value("io_bytes", std::int64_t{0});
  }
  return report;
}

/// Returns the number in the first group of the pattern's first match. Throws if there is no match.
double find_number(const std::string& text, const char* pattern, const char* what) {
  std::smatch match;
  if (!std::regex_search(text, match, std::regex(pattern)))
    throw std::invalid_argument(std::string("reports no ") + what);
  return number(match[1]);
}

/// Parses a size such as "27.74 megabytes" from postmark's output. Units are powers of 1024.
double find_bytes(const std::string& text, const char* direction) {
  const std::regex pattern(std::string("([0-9.]+) (bytes|kilobytes|megabytes|gigabytes) ") +
                           direction);
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
  const double seconds =
      find_number(text, "([0-9.]+) seconds of transactions", "time of transactions");
  const double rate =
      find_number(text, "seconds of transactions \\(([0-9.]+) per second\\)", "transaction rate");
  report.operations = static_cast<std::int64_t>(rate * seconds);
  report.bytes_read = static_cast<std::int64_t>(find_bytes(text, "read"));
  report.bytes_written = static_cast<std::int64_t>(find_bytes(text, "written"));
  report.metrics = {
      {"postmark.transactions", "1/s", rate},
      {"postmark.created", "1/s",
       find_number(text, "[0-9]+ created \\(([0-9.]+) per second\\)", "files created")},
      {"postmark.deleted", "1/s",
       find_number(text, "[0-9]+ deleted \\(([0-9.]+) per second\\)", "files deleted")}};
  return report;
}

ToolReport parse_dbench(const std::string& text) {
  ToolReport report{.operation = "operations"};
  report.metrics = {
      {"dbench.throughput", "bytes/s",
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
    // The second column is the total number of files so far, so the last row has the final total.
    report.operations = static_cast<std::int64_t>(number(match[2]));
    report.bytes_written = report.operations * static_cast<std::int64_t>(number(match[3]));
    rates += number(match[4]);
    ++rows;
  }
  if (rows == 0) throw std::invalid_argument("reports no rate");
  report.metrics = {{"fs_mark.files", "1/s", rates / rows}};
  return report;
}

ToolReport parse_sqlite(const std::string& text) {
  ToolReport report{.operation = "rows"};
  report.operations =
      static_cast<std::int64_t>(find_number(text, "rows changed\\|([0-9]+)", "rows changed"));
  if (!std::regex_search(text, std::regex("(^|\n)ok\n")))
    throw std::invalid_argument("does not report that the integrity check passed");
  return report;
}

ToolReport parse_compile(const std::string& text) {
  ToolReport report{.operation = "files"};
  const auto whole = [&](const char* pattern, const char* what) {
    return static_cast<std::int64_t>(find_number(text, pattern, what));
  };
  report.operations = whole("compiled ([0-9]+) files", "files compiled");
  report.bytes_read = whole("files of +([0-9]+) bytes", "bytes of its sources");
  report.bytes_written = whole("into +([0-9]+) bytes", "bytes of its objects");
  return report;
}

const std::vector<KnownTool>& known_tools() {
  static const std::vector<KnownTool> kAll{
      {"fio",
       "fio",
       "fio",
       Job::usual,
       {"fio", "--output-format=json", "--output={report}", "--directory={root}", "{job}"},
       true,
       parse_fio,
       usual_fio_job},
      {"postmark",
       "postmark",
       "postmark",
       Job::usual,
       {"postmark", "{job}"},
       false,
       parse_postmark,
       usual_postmark_job},
      {"dbench",
       "dbench",
       "dbench",
       Job::usual,
       {"dbench", "-c", "{job}", "-D", "{root}"},
       false,
       parse_dbench,
       usual_dbench_job,
       {},
       {"-t", "20", "2"}},
      {"fs_mark",
       "fs_mark",
       "fsmark",
       Job::none,
       {"fs_mark", "-d", "{root}/fs_mark"},
       false,
       parse_fs_mark,
       nullptr,
       {},
       {"-n", "200", "-s", "10240"}},
      {"sqlite",
       "sqlite3",
       "sqlite3",
       Job::usual,
       {"sqlite3", "-batch", "-bail", "{root}/bench.db", ".read {job}",
        "SELECT 'rows changed', total_changes();", "PRAGMA integrity_check;"},
       false,
       parse_sqlite,
       usual_sqlite_job},
      {"compile",
       "tcc",
       "tcc",
       Job::ours,
       {"busybox", "sh", "{job}", "build", "{root}"},
       false,
       parse_compile,
       usual_compile_job,
       {"busybox", "sh", "{job}", "prepare", "{root}"}},
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
  for (const auto& [place, value] : {std::pair<const char*, const std::string&>{"{root}", root},
                                     {"{job}", job},
                                     {"{report}", report}})
    base::replace_all(word, place, value);
  return word;
}

/// Rejects invalid lines in a dbench loadfile, because dbench would report such a line endlessly.
Result<void> check_dbench_load(const std::string& load, const std::string& subject) {
  std::istringstream lines(load);
  const std::regex status("(NT_STATUS_[A-Z_]+|0x[0-9A-Fa-f]+|SUCCESS)\\s*$");
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string::npos || line.front() == '#') continue;
    if (!std::regex_search(line, status) ||
        std::isalpha(static_cast<unsigned char>(line.front())) == 0)
      return fail(subject,
                  fmt::format("line {} is not a valid line of a dbench 4 load: {}", number, line),
                  R"(write lines such as: Mkdir "\clients\client1" NT_STATUS_OK)");
  }
  return {};
}

/// Returns the value of `job`, or the contents of the file that `job-file` names. A relative name
/// is resolved against the directory of the benchmark's file.
Result<std::string> parse_job(const base::StrictTable& table, const std::filesystem::path& folder) {
  std::string job, file;
  for (const auto& read : {table.take("job", job), table.take("job-file", file)}) {
    TRY(read);
  }
  if (file.empty()) return job;
  if (!job.empty())
    return fail(table.subject("job-file"), "cannot be combined with 'job'", "use only one of them");
  auto text = base::read_text_file((folder / file).string());
  if (text && text->empty()) return fail((folder / file).string(), "is empty");
  return text;
}

/// Returns the fixed duration of the job, or nullopt if the job ends when its work is done. Throws
/// if the job cannot be parsed.
std::optional<double> fixed_time_s(const ToolJob& job, const std::string& text) {
  if (job.tool == "dbench") {
    const auto option = std::ranges::find(job.options, "-t");
    const bool given = option != job.options.end() && std::next(option) != job.options.end();
    return given ? number(*std::next(option)) : kDbenchSeconds;
  }
  if (job.tool != "fio" || job.fio.runtime_s <= 0) return std::nullopt;
  if (job.fio.time_based) return job.fio.runtime_s;
  const std::size_t begin = text.find('{');
  const json all = json::parse(begin == std::string::npos ? text : text.substr(begin));
  for (const json& one : all.at("jobs"))
    if (one.value("job_runtime", 0.0) >= job.fio.runtime_s * 1000)
      // The job ended because its runtime had passed, not because its work was done.
      return job.fio.runtime_s;
  return std::nullopt;
}

}  // namespace

std::vector<std::string> tool_keys() {
  return {"tool", "job", "job-file", "options"};
}

Result<ToolJob> parse_tool(const base::StrictTable& table, const std::filesystem::path& folder) {
  ToolJob job;
  for (const auto& read : {table.take("tool", job.tool), table.take("options", job.options)}) {
    TRY(read);
  }
  const KnownTool* tool = find_tool(job.tool);
  if (tool == nullptr) {
    std::vector<std::string> names;
    for (const KnownTool& each : known_tools()) names.emplace_back(each.name);
    return fail(table.subject("tool"), fmt::format("unknown tool \"{}\"", job.tool),
                base::suggest(job.tool, names));
  }
  TRY(auto text, parse_job(table, folder));
  job.job = std::move(text);
  if ((tool->job == Job::none || tool->job == Job::ours) && !job.job.empty())
    return fail(table.subject("job"), fmt::format("{} does not take a job", job.tool),
                "use options = [\"...\"]");
  if (job.job.size() > kJobMost)
    return fail(table.subject("job"), fmt::format("is longer than {} KiB", kJobMost >> 10));
  if (job.tool == "fio" && !job.job.empty()) {
    std::string file;
    TRY(table.take("job-file", file));
    TRY(check_fio_job(job.job, file.empty() ? table.subject("job") : (folder / file).string()));
    TRY(auto extras, parse_fio_extras(job.job, folder));
    job.fio = std::move(extras);
  }
  if (job.tool == "dbench") {
    TRY(check_dbench_load(job.job, table.subject("job")));
  }
  if (job.job.empty() && tool->own_job != nullptr) job.job = tool->own_job();
  if (job.options.empty()) job.options = tool->usual_options;
  return job;
}

Result<std::string> tool_program(const ToolJob& job) {
  const KnownTool& tool = *find_tool(job.tool);
  const char* path = std::getenv("PATH");
  std::istringstream folders(std::string(path == nullptr ? "" : path) + ":/usr/sbin:/sbin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string program = folder + "/" + tool.program;
    if (!folder.empty() && ::access(program.c_str(), X_OK) == 0) return program;
  }
  return fail(tool.program, "is not installed here, so it cannot be copied to the guest",
              fmt::format("install the package {} (scripts/setup does so)", tool.package));
}

ToolCommand tool_command(const ToolJob& job, const std::string& root) {
  const KnownTool& tool = *find_tool(job.tool);
  ToolCommand command;
  if (tool.job != Job::none) command.job_path = fmt::format("{}/{}.job", kFolder, job.tool);
  if (tool.report_in_file) command.report_path = fmt::format("{}/{}.report", kFolder, job.tool);
  for (std::size_t i = 0; i < job.fio.iologs.size(); ++i)
    command.more_files.emplace_back(fmt::format("{}/fio.iolog{}", kFolder, i), job.fio.iologs[i]);
  const auto fill = [&](const std::string& word) {
    std::string filled = filled_in(word, root, command.job_path, command.report_path);
    for (std::size_t i = 0; i < command.more_files.size(); ++i) {
      const std::string place = fmt::format("{{iolog{}}}", i);
      if (const std::size_t at = filled.find(place); at != std::string::npos)
        filled.replace(at, place.size(), command.more_files[i].first);
    }
    return filled;
  };
  const auto with_options = [&](const std::vector<std::string>& words) {
    std::vector<std::string> argv;
    argv.reserve(words.size() + job.options.size());
    for (const std::string& word : words) argv.push_back(fill(word));
    for (const std::string& word : job.options) argv.push_back(fill(word));
    return argv;
  };
  command.argv = with_options(tool.argv);
  if (!tool.prepare.empty()) command.prepare = with_options(tool.prepare);
  if (!job.fio.iologs.empty()) {
    std::erase_if(command.argv,
                  [](const std::string& word) { return word.starts_with("--directory="); });
    command.prepare = {"busybox", "truncate", "-s", std::to_string(job.fio.replayed_bytes),
                       root + "/replayed"};
  }
  command.job_text = tool.job == Job::ours ? job.job : fill(job.job);
  return command;
}

Result<ToolReport> parse_report(const ToolJob& job, const std::string& text) {
  try {
    ToolReport report = find_tool(job.tool)->parse(text);
    if (const auto seconds = fixed_time_s(job, text))
      report.metrics.push_back({db::kFixedTimeMetric, "s", *seconds});
    return report;
    // The JSON library, regular expressions and number parsers throw exceptions.
  } catch (const std::exception& error) {
    constexpr std::size_t kShown = 400;
    return fail("report of " + job.tool, error.what(),
                "it wrote: " + text.substr(0, std::min(text.size(), kShown)));
  }
}

}  // namespace headcrash::bench
