#pragma once
// A real application as a workload: a TOML file with the commands that prepare, run and verify it
// (applications/sqlite.toml explains the keys).
//
//   format, mount     tools are looked up, files put into kApplicationFolder of the guest
//   prepare           to its end, then sync: what it leaves is there for certain
//   run               prints "persisted TEXT" whenever something has become persistent by the
//                     application's own account; each such line is a mark "persisted TEXT" before
//                     anything else is done with it (request run-application,
//                     harness/guest/PROTOCOL.md)
//     ... power cut anywhere ...
//   recover, mount    the files are put again if the guest is another one
//   verify            gets the TEXT of every mark before the cut on its standard input, one a line in order,
//                     and prints "lost: ..." for what is not there and "wrong: ..." for what should
//                     not be; exit 0 if it found nothing, 1 if it printed such lines
//                     (harness/oracle/application_verdict.h)
//
// A line is printed after the fact and the mark follows later still, so that every TEXT the
// verifier gets was promised before the cut. (TEXT is 1 to 200 printing ASCII characters.) What the
// application did after its last mark may be there or not: a verifier demands what its list says
// and refuses only what no moment of the run had. What it does not demand, since the application's
// documents do not promise it, but found missing, it tells in lines "permitted: ...": they are not
// findings, and are kept with the state.
//
// An application with settings ([settings.NAME] in its file) runs under one of them:
// "sqlite+wal-normal". The words of the setting stand for {setting} in prepare, run and verify.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "fs-adapters/linux/adapter.h"
#include "plugin/base/result.h"

namespace headcrash::workload {

inline constexpr const char* kApplicationFolder = "/run/application";  ///< of the guest, in memory

struct ApplicationSetting {
  std::string words;  ///< in place of {setting}
  std::string
      promise;  ///< of the application's documents under this setting, and where they say so
  adapters::Expectation expected = adapters::Expectation::clean;
};

struct Application {
  std::string name, title;  ///< "sqlite+wal-full" under a setting
  std::string origin;       ///< name or absolute path, to load it again
  std::string promise;      ///< in words, with the document that says so
  std::map<std::string, ApplicationSetting> settings;
  std::string setting;                 ///< of these, the one that it is under
  std::vector<std::string> packages;   ///< of Debian: their files go into the guest
  std::vector<std::string> tools;      ///< programs that the guest must have, by name
  std::vector<std::string> own_tools;  ///< of these, paths of the host's that go into the guest
  std::map<std::string, std::string> files;  ///< name without folder, content
  std::vector<std::string> prepare, run,
      verify;  ///< lines for sh; {root} and {files} stand for folders
  /// After each command of `run` that ends with exit 0, "persisted command N" is said for it, N
  /// from 0.
  bool each_command_persists = false;
  /// Puts its packages and programs into a guest's.
  void add_to(adapters::GuestParts& parts) const {
    parts.packages = packages;
    parts.application_tools = own_tools;
  }
  adapters::Expectation expected =
      adapters::Expectation::clean;  ///< on a file system that keeps its promises
};

/// Each line as an argv for the agent, {root} and {files} filled in.
std::vector<std::vector<std::string>> commands(const std::vector<std::string>& lines,
                                               std::string_view root);

/// A built-in application by name, or a file by path (any name with a '/' or ending in .toml),
/// under the setting after a '+' or the one that its file names.
Result<Application> load_application(const std::string& name_or_path);

/// "sqlite+*" is SQLite under each of its settings; any other name is one application.
Result<std::vector<Application>> load_applications(const std::string& name_or_path);

/// As load_application() of a file without a setting; `file_name` is for messages.
Result<Application> parse_application(std::string_view text, const std::string& file_name);

std::vector<std::string> built_in_applications();

}  // namespace headcrash::workload
