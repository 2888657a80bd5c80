#pragma once
// A real application as a workload: a TOML file with the commands that prepare, run and verify it
// (applications/sqlite.toml explains the keys).
//
//   format, mount     check for tools, copy files to kApplicationFolder in the guest
//   prepare           runs to its end, followed by a sync: its result is always on the disk
//   run               prints "persisted TEXT" when, according to the application, data has become
//                     persistent; each such line becomes a mark "persisted TEXT" before anything
//                     else is done (request run-application, harness/guest/PROTOCOL.md)
//     ... power cut at any time ...
//   recover, mount    the files are copied to the new guest, too
//   verify            reads from standard input the TEXT of each mark before the cut, one on each
//                     line, in order; prints "lost: ..." for missing data and "wrong: ..." for data
//                     that must not be there; exits with 0 if it found nothing, otherwise with 1
//                     (harness/oracle/application_verdict.h)
//
// The application prints a line when the data is persistent, and the mark is written after that.
// Each TEXT that the verifier receives was therefore promised before the cut. (TEXT is 1 to 200
// printable ASCII characters.) Effects after the last mark may be present or absent. A verifier
// must require the data that its list names. Apart from that, it must accept every state that
// existed during the run. If data is missing that the application's documentation does not promise,
// the verifier reports it on lines of the form "permitted: ...". These lines are stored with the
// state and are not findings.
//
// An application that has settings ([settings.NAME] in its file) runs under one of them:
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
/// Path of the file system under test for an application with its own root file system (`rootfs`).
inline constexpr const char* kInsideDisk = "/.headcrash/disk";
/// Path of the program that runs shell commands in an application's root file system.
inline constexpr const char* kInsideBusybox = "/.headcrash/busybox";
/// Path of the agent's executable in the guest. The agent starts commands in an application's root
/// file system (harness/guest/inside.h).
inline constexpr const char* kAgentProgram = "/init";

struct ApplicationSetting {
  std::string words;  ///< text that replaces {setting}
  /// The promise that the application's documentation makes for this setting, with the source.
  std::string promise;
  adapters::Expectation expected = adapters::Expectation::clean;
};

/// A command of an application: a line for a shell, with the placeholders {root}, {files} and
/// {setting}, or an argv, in which only {setting} is replaced.
struct Command {
  std::vector<std::string> words;  ///< if `shell` is true, a single element: the line
  bool shell = true;
  bool operator==(const Command&) const = default;
};

struct Application {
  std::string name, title;  ///< `name` includes the setting, for example "sqlite+wal-full"
  /// Built-in name or absolute path, from which the application can be loaded again.
  std::string origin;
  std::string promise;  ///< the application's promise, with the document that states it
  std::map<std::string, ApplicationSetting> settings;
  std::string setting;                 ///< name of the active setting
  std::vector<std::string> packages;   ///< Debian packages to install in the guest
  std::vector<std::string> tools;      ///< names of programs that the guest must have
  std::vector<std::string> own_tools;  ///< programs to copy into the guest, as paths on the host
  /// Contents of the application's files, keyed by file name.
  std::map<std::string, std::string> files;
  std::vector<Command> prepare, run, verify;
  /// If true, each command of `run` that exits with 0 produces a mark "persisted command N". N
  /// starts at 0.
  bool each_command_persists = false;
  /// If true, each line that `run` prints produces a mark "persisted LINE".
  bool every_line_persists = false;
  /// If true, only the verifier's exit code counts: any code other than 0 is a loss.
  bool verify_by_exit_code = false;
  /// Name of a file that `run` writes to {files}. Its contents are returned with the recording.
  /// Empty if there is no such file.
  std::string report;
  /// Path on the host of a squashfs image that becomes the root file system of all commands. If
  /// empty, the commands run in the guest's root file system.
  std::string rootfs;
  /// Working directory and environment variables ("NAME=VALUE") of commands that need no shell. May
  /// be set only with a `rootfs`.
  std::string folder = "/";
  std::vector<std::string> environment;
  /// Adds the packages, programs and root file system of this application to the parts of a guest.
  void add_to(adapters::GuestParts& parts) const {
    // A package may already be in the list, because a stack of block devices or an earlier call has
    // added it.
    for (const std::string& package : packages)
      if (std::ranges::find(parts.packages, package) == parts.packages.end())
        parts.packages.push_back(package);
    parts.application_tools = own_tools;
    parts.rootfs = rootfs;
  }
  /// The expected verdict if the file system keeps its promises.
  adapters::Expectation expected = adapters::Expectation::clean;
};

/// Returns the program that an argv of argvs() runs, for messages.
std::string program_in(const std::vector<std::string>& argv);

/// Returns the argv of each command, for execution by the agent. If the application has a rootfs,
/// the command runs inside that root file system, and the command's changes there are discarded.
std::vector<std::vector<std::string>> argvs(const Application& application,
                                            const std::vector<Command>& commands,
                                            std::string_view root);

/// Loads a built-in application by name, or an application file by path (a name that contains '/'
/// or ends in .toml). Applies the setting that follows '+' in the name or, without a '+', the
/// default setting in the file.
Result<Application> load_application(const std::string& name_or_path);

/// For a name such as "sqlite+*", returns the application once for each of its settings. For any
/// other name, returns the single application that load_application() returns.
Result<std::vector<Application>> load_applications(const std::string& name_or_path);

/// Parses an application file without applying a setting. Errors contain `file_name`.
Result<Application> parse_application(std::string_view text, const std::string& file_name);

std::vector<std::string> built_in_applications();

}  // namespace headcrash::workload
