#pragma once
// Converts a program under test (headcrash check) to an application
// (harness/workload/application.h), so that the user need not write an application file. The
// conversion consists of a run and two files:
//
//   a traced run on this host    init, program and verifier must succeed without a power cut
//   program.squashfs             every file that these programs used, or the user's root file
//                                system
//   application.toml             each line that the program prints is a promise; the verifier's
//                                exit code is the verdict
//
// The program runs in the directory kTestFolder of the file system under test.

#include <atomic>
#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plugin/base/result.h"

namespace headcrash::check {

inline constexpr const char* kTestFolder = "check";
inline constexpr const char* kApplicationName = "application.toml";
inline constexpr const char* kImageName = "program.squashfs";

struct TestProgram {
  std::vector<std::string> argv;
  /// Shell command that is run and synced before the program starts; may be empty.
  std::string init;
  /// Shell command that verifies the files. If empty, the program is started again instead, and
  /// must exit with 0.
  std::string verify;
  std::vector<std::string> environment;  ///< "NAME=VALUE"
  std::vector<std::string> files;        ///< further files and directories that the program needs
  /// directory or tar archive; empty to use this host's files
  std::string rootfs;
  std::chrono::seconds limit{60};                  ///< time limit for each run on this host
  const std::atomic<bool>* interrupted = nullptr;  ///< may be null; true ends a run on this host
};

struct PreparedProgram {
  std::filesystem::path application;  ///< the file application.toml
  std::size_t lines = 0;              ///< number of lines that the program printed on this host
  double seconds = 0;                 ///< duration of the traced run
  std::uint64_t bytes = 0;            ///< size of the program's directory after the run
  /// bytes preallocated by the program, its init and its verifier
  std::uint64_t preallocated = 0;
  std::filesystem::path program_of_32_bits;  ///< one that these runs executed; empty if none
  bool ran_on_host = false;                  ///< false if the user provides a root file system
};

/// Creates the files in the existing directory `folder`. Fails if the program, its init or its
/// verifier fails on this host. Also fails if the program prints a line that cannot be a promise: a
/// promise has at most 200 characters, all of them printable ASCII.
Result<PreparedProgram> prepare(const TestProgram& program, const std::filesystem::path& folder);

/// Settings for running an application's program under the tracer of harness/audit.
struct Tracing {
  std::filesystem::path tracer;      ///< path of the tracer's executable on this host
  std::vector<std::string> options;  ///< the tracer's options, without --report
};
inline constexpr const char* kTraceName = "trace.json";

/// Writes an application file. The image kImageName must be in the same directory. With `tracing`,
/// the application runs under the tracer, and the tracer's report is the application's report.
Result<void> write_application(const TestProgram& program, const std::filesystem::path& file,
                               const std::optional<Tracing>& tracing = std::nullopt);

/// Makes the relative paths of existing files in `words` absolute, because the program runs in
/// another directory.
std::vector<std::string> with_absolute_files(std::vector<std::string> words);

/// Like the other with_absolute_files(), but for a shell command line. Replaces only words that
/// need no quoting.
std::string with_absolute_files(const std::string& line);

}  // namespace headcrash::check
