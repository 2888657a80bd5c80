#pragma once
// A real application as a workload: a TOML file with the commands that prepare, run and verify it
// (applications/sqlite.toml explains the keys).
//
//   format, mount     check for tools, copy files to kApplicationFolder in the guest
//   prepare           runs to its end, then sync: its result is always on the disk
//   run               prints "persisted TEXT" when, by the application's own account, data has
//                     become persistent; each such line becomes a mark "persisted TEXT" before any
//                     other processing (request run-application, harness/guest/PROTOCOL.md)
//     ... power cut anywhere ...
//   recover, mount    a different guest gets the files again
//   verify            reads the TEXT of each mark before the cut from standard input, one per line,
//                     in order; prints "lost: ..." for missing data and "wrong: ..." for data that
//                     should not be there; exits with 0 if it found nothing, with 1 otherwise
//                     (harness/oracle/application_verdict.h)
//
// The application prints a line after the data is persistent, and the mark is written after the
// line. Each TEXT that the verifier gets was therefore promised before the cut. (TEXT is 1 to 200
// printable ASCII characters.) Effects after the last mark may be present or absent: a verifier
// must require the data that its list names, and reject only states that never existed during the
// run. It reports missing data that the application's documentation does not promise in lines
// "permitted: ...". These are stored with the state and are not findings.
//
// An application with settings ([settings.NAME] in its file) runs under one of them:
// "sqlite+wal-normal". The setting's text replaces {setting} in prepare, run and verify.

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "fs-adapters/linux/adapter.h"
#include "plugin/base/result.h"

namespace headcrash::workload {

inline constexpr const char* kApplicationFolder = "/run/application";  ///< in the guest's memory
/// The file system under test, as seen by a program in its own root file system (`rootfs`).
inline constexpr const char* kInsideDisk = "/.headcrash/disk";
inline constexpr const char* kInsideBusybox = "/.headcrash/busybox";  ///< for lines of shell there
/// The agent's program in the guest, which starts commands in that root file system
/// (harness/guest/inside.h).
inline constexpr const char* kAgentProgram = "/init";

struct ApplicationSetting {
  std::string words;  ///< text that replaces {setting}
  /// The promise that the application's documentation makes for this setting, with its source.
  std::string promise;
  adapters::Expectation expected = adapters::Expectation::clean;
};

/// A command of an application: a line for a shell, with the placeholders {root}, {files} and
/// {setting}, or an argv, in which only {setting} is replaced.
struct Command {
  std::vector<std::string> words;  ///< the line alone if `shell` is true
  bool shell = true;
  bool operator==(const Command&) const = default;
};

struct Application {
  std::string name, title;  ///< "sqlite+wal-full" under a setting
  /// built-in name or absolute path from which the application can be loaded again
  std::string origin;
  std::string promise;  ///< the application's promise, with the document that states it
  std::map<std::string, ApplicationSetting> settings;
  std::string setting;                 ///< name of the active setting
  std::vector<std::string> packages;   ///< Debian packages installed in the guest
  std::vector<std::string> tools;      ///< names of programs that the guest must have
  std::vector<std::string> own_tools;  ///< paths on the host of programs to copy into the guest
  std::map<std::string, std::string> files;  ///< file contents by file name
  std::vector<Command> prepare, run, verify;
  /// Writes a mark "persisted command N" after each command of `run` that exits with 0. N starts at
  /// 0.
  bool each_command_persists = false;
  /// Treats each line that `run` prints as a mark "persisted LINE".
  bool every_line_persists = false;
  /// Uses only the verifier's exit code: any code other than 0 is a loss.
  bool verify_by_exit_code = false;
  /// Name of a file that `run` writes to {files}. Its content is returned with the recording. Empty
  /// if `run` writes no such file.
  std::string report;
  /// Path on the host of a squashfs image in which all commands run. If empty, they run in the
  /// guest's own root file system.
  std::string rootfs;
  /// Folder and variables ("NAME=VALUE") of commands that need no shell. Both need a `rootfs`.
  std::string folder = "/";
  std::vector<std::string> environment;
  /// Adds this application's packages, programs and root file system to the parts of a guest.
  void add_to(adapters::GuestParts& parts) const {
    // The parts may already have packages of a stack, and this application's.
    for (const std::string& package : packages)
      if (std::ranges::find(parts.packages, package) == parts.packages.end())
        parts.packages.push_back(package);
    parts.application_tools = own_tools;
    parts.rootfs = rootfs;
  }
  /// The verdict expected on a file system that keeps its promises.
  adapters::Expectation expected = adapters::Expectation::clean;
};

/// Returns the argv of each command for the agent. If the application has a rootfs, the command
/// runs inside that root file system, and its changes there are discarded.
std::vector<std::vector<std::string>> argvs(const Application& application,
                                            const std::vector<Command>& commands,
                                            std::string_view root);

/// Loads a built-in application by name, or a file by path (a name with '/' or ending in .toml).
/// Uses the setting after '+', or the file's default setting.
Result<Application> load_application(const std::string& name_or_path);

/// For a name such as "sqlite+*", returns the application once with each of its settings. For any
/// other name, returns one application, as load_application() does.
Result<std::vector<Application>> load_applications(const std::string& name_or_path);

/// Parses an application's file, without applying a setting. `file_name` is used in errors.
Result<Application> parse_application(std::string_view text, const std::string& file_name);

std::vector<std::string> built_in_applications();

}  // namespace headcrash::workload
