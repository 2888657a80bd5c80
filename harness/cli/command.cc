#include "harness/cli/command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <iostream>
#include <system_error>

#include "plugin/base/nearest.h"
#include "plugin/base/printable.h"
#include "plugin/base/version.h"

namespace headcrash::cli {
namespace {

std::atomic<bool> g_interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void on_signal(int) {
  if (g_interrupted.exchange(true)) ::_exit(kInterrupted);
}

}  // namespace

void add_ci_options(CLI::App& command, report::CiFiles& files) {
  command.add_option("--junit", files.junit, "File for the outcome as JUnit XML");
  command.add_option("--sarif", files.sarif, "File for the failures, as SARIF 2.1.0");
  command.add_option("--summary", files.summary, "File for the outcome as a table in Markdown");
  command.add_flag("--annotations", files.annotations,
                   "Print the failures as ::error lines, which GitHub shows");
}

int finish_ci(const report::CiFiles& files, const std::string& title,
              const std::vector<report::CiCase>& cases, int exit_code) {
  const auto written = report::write_ci_files(files, title, cases, base::version());
  return written ? exit_code : report_error(written.error(), false);
}

int report_error(const Error& error, bool as_json) {
  if (as_json) {
    print({{"error",
            {{"subject", error.subject}, {"problem", error.problem}, {"remedy", error.hint}}}});
  } else {
    fmt::print(stderr, "headcrash: {}\n", base::printable_lines(error.message()));
  }
  return kUsage;
}

void print(const nlohmann::json& value) {
  std::cout << value.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
}

int finish_output(int exit_code) {
  errno = 0;
  // Flush with fflush(), because it sets errno and the error indicator of stdout if it fails.
  std::cout.flush();
  const bool flushed = std::fflush(stdout) == 0;
  if (flushed && std::ferror(stdout) == 0 && std::cout.good()) return exit_code;
  const std::string reason = errno == 0 ? "" : ": " + std::generic_category().message(errno);
  return report_error({"standard output", "cannot be written" + reason,
                       "free some space, or write to another file system"},
                      false);
}

void add_database_option(CLI::App& command, std::string& database, MadeIfMissing made) {
  command
      .add_option(
          "--db", database,
          made == MadeIfMissing::yes ? "Results database; created if missing" : "Results database")
      ->envname("HEADCRASH_DB")
      ->capture_default_str();
}

void add_kernels_option(CLI::App& command, std::vector<std::string>& kernels) {
  command
      .add_option(
          "--kernel", kernels,
          "Run every file system under each of these kernels, as a separate run. A kernel is a "
          "Debian version (6.1, 6.12, 6.1-rt) or a path that contains a '/'")
      ->delimiter(',')
      ->allow_extra_args(false);
}

void add_guest_option(CLI::App& command, std::string& guest, const std::string& otherwise) {
  accept_only(command.add_option(
                  "--guest", guest,
                  "qemu: real time; virtual: user-mode Linux, whose clock stops while it computes; "
                  "default: " +
                      otherwise),
              {"qemu", "virtual"});
}

void add_verbosity_options(CLI::App& command, Verbosity& verbosity) {
  CLI::Option* const quiet = command.add_flag_callback(
      "-q,--quiet", [&verbosity] { verbosity = Verbosity::quiet; }, "Show no progress");
  command
      .add_flag_callback(
          "-v,--verbose", [&verbosity] { verbosity = Verbosity::verbose; },
          "Print each trial or state and its steps on separate lines")
      ->excludes(quiet);
}

CLI::Option* accept_only(CLI::Option* option, std::vector<std::string> known) {
  const std::string all = fmt::format("{{{}}}", fmt::join(known, ","));
  return option->check(CLI::Validator(
      [known = std::move(known), option](const std::string& value) -> std::string {
        if (std::find(known.begin(), known.end(), value) != known.end()) return {};
        throw UnknownValue({option->get_name(), fmt::format("unknown value \"{}\"", value),
                            base::suggest(value, known)});
      },
      all, ""));
}

const std::atomic<bool>& interrupted() {
  return g_interrupted;
}

void catch_interrupts() {
  struct sigaction action{};
  action.sa_handler = on_signal;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(signal, &action, nullptr);
}

}  // namespace headcrash::cli
