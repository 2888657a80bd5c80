// Runs fio --parse-only and finds log files (fio_job.h).
#include "harness/bench/fio_job.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <string_view>
#include <utility>

#include "plugin/base/descriptor.h"
#include "plugin/base/process.h"
#include "plugin/model/core/store.h"
#include "plugin/replay/trace_file.h"

namespace headcrash::bench {
namespace {

constexpr std::chrono::seconds kLimit{10};
constexpr std::uintmax_t kIologBytesMost = 16 << 20;
constexpr std::uint64_t kReplayedBytesMin = 1 << 20;

std::string first_line(std::FILE* file) {
  std::array<char, 4096> buffer{};
  std::rewind(file);
  const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), file);
  std::stringstream lines(std::string(buffer.data(), got));
  std::string line;
  std::getline(lines, line);
  constexpr std::string_view kFrom = "fio: ";
  return line.starts_with(kFrom) ? line.substr(kFrom.size()) : line;
}

/// Splits a line of a job into key and value. The value may be missing.
std::pair<std::string, std::string> key_and_value(const std::string& line) {
  const auto trimmed = [](std::string_view text) {
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0)
      text.remove_prefix(1);
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0)
      text.remove_suffix(1);
    return std::string(text);
  };
  const std::size_t equals = line.find('=');
  return {trimmed(std::string_view(line).substr(0, equals)),
          equals == std::string::npos ? "" : trimmed(std::string_view(line).substr(equals + 1))};
}

/// Parses a time as fio does. A time without a unit is in seconds.
double seconds_of(const std::string& text) {
  char* rest = nullptr;
  const double number = std::strtod(text.c_str(), &rest);
  const std::string_view unit(rest);
  if (unit == "ms") return number / 1e3;
  if (unit == "us") return number / 1e6;
  return number * (unit == "m" ? 60 : unit == "h" ? 3600 : unit == "d" ? 86'400 : 1);
}

/// Appends a request log to `extras`. Increases `extras.replayed_bytes` to cover all requests of
/// the log.
Result<void> parse_iolog(const std::filesystem::path& path, FioExtras& extras) {
  std::error_code error;
  if (std::filesystem::file_size(path, error) > kIologBytesMost && !error)
    return fail(path.string(), fmt::format("is longer than {} MiB", kIologBytesMost >> 20),
                "replay part of it, or simulate it: headcrash simulate --trace");
  TRY(auto log, replay::TraceFile::open(path.string(), std::nullopt));
  using enum replay::TraceFormat;
  if (log->format().format != fio2 && log->format().format != fio3)
    return fail(path.string(), "is not a fio log", "create one with write_iolog=");
  for (;;) {
    TRY(const auto requests, log->next());
    if (requests.empty()) break;
    for (const replay::TraceRequest& r : requests)
      extras.replayed_bytes =
          std::max(extras.replayed_bytes, (r.lbn + r.blocks) * model::kSectorBytes);
  }
  std::ifstream in(path, std::ios::binary);
  extras.iologs.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  return {};
}

}  // namespace

Result<FioExtras> parse_fio_extras(std::string& job, const std::filesystem::path& folder) {
  FioExtras extras{.replayed_bytes = kReplayedBytesMin};
  const bool redirected = job.find("replay_redirect") != std::string::npos;
  std::istringstream lines(job);
  std::string changed;
  for (std::string line; std::getline(lines, line);) {
    const auto [key, value] = key_and_value(line);
    if (key == "time_based") extras.time_based |= value != "0";
    if (key == "runtime" || key == "timeout")
      extras.runtime_s = std::max(extras.runtime_s, seconds_of(value));
    if (key == "read_iolog") {
      TRY(parse_iolog(folder / value, extras));
      line = fmt::format("read_iolog={{iolog{}}}", extras.iologs.size() - 1);
      if (!redirected) line += "\nreplay_redirect={root}/replayed";
    }
    changed += line + "\n";
  }
  if (!extras.iologs.empty()) job = std::move(changed);
  return extras;
}

Result<void> check_fio_job(const std::string& job, const std::string& subject) {
  const base::Descriptor text(::memfd_create("fio-job", MFD_CLOEXEC));
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> errors(std::tmpfile(), std::fclose);
  if (!text.is_open() || !errors) return {};
  if (::write(text.get(), job.data(), job.size()) != static_cast<ssize_t>(job.size())) return {};
  const auto fio = base::Process::start(
      {.argv = {"fio", "--parse-only", fmt::format("/proc/self/fd/{}", base::kFirstInherited)},
       .errors = ::fileno(errors.get()),
       .inherit = {text.get()}});
  if (!fio) return {};
  const auto status = fio->wait(kLimit);
  if (!status || *status == 0) return {};
  return fail(subject, "fio rejects it: " + first_line(errors.get()),
              "see `man fio` for the keys of a job");
}

}  // namespace headcrash::bench
