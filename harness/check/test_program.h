#pragma once
// A program under test (headcrash check), made into an application (harness/workload/application.h)
// without a file of its user's:
//
//   run on this host, traced     init, program, verifier: all must succeed without a power cut
//   program.squashfs             every file that the three runs used, or the user's root file
//                                system
//   application.toml             each line that the program prints is a promise; the verifier's
//                                exit code is the verdict
//
// The program runs in the folder kTestFolder of the file system under test.

#include <chrono>
#include <filesystem>
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
  std::string init;    ///< a line for sh that is run, and synced, before the program; may be empty
  std::string verify;  ///< a line for sh; empty: the program is started again, and must end with 0
  std::vector<std::string> environment;  ///< "NAME=VALUE"
  std::vector<std::string> files;        ///< further files and folders that it needs
  std::string rootfs;  ///< a folder or a tar archive; empty: the files that it uses on this host
  std::chrono::seconds limit{60};  ///< of each run on this host
};

struct PreparedProgram {
  std::filesystem::path application;  ///< the file application.toml
  std::size_t lines = 0;              ///< that it printed on this host
  double seconds = 0;                 ///< of its traced run
  std::uint64_t bytes = 0;            ///< in its folder after the run
  bool ran_on_host = false;           ///< false with a root file system of the user's
};

/// Makes the files in `folder`, which exists. Fails if the program, its init or its verifier fails
/// on this host, or prints a line that cannot be a promise (200 printable ASCII characters).
Result<PreparedProgram> prepare(const TestProgram& program, const std::filesystem::path& folder);

/// Returns `words` with those that name existing files, relative to the current folder, as absolute
/// paths: the program runs in another folder.
std::vector<std::string> with_absolute_files(std::vector<std::string> words);

/// Does the same with the words of a line for sh that need no quoting.
std::string with_absolute_files(const std::string& line);

}  // namespace headcrash::check
