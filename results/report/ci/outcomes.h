#pragma once
// A command's outcome in the formats that continuous integration systems display: JUnit XML, SARIF
// 2.1.0, GitHub's workflow commands, and a summary in Markdown. Each command creates one list of
// cases, from which all formats are generated.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "plugin/base/result.h"

namespace headcrash::report {

/// A test result: of a file system under a program, or of a trial of a campaign.
struct CiCase {
  enum class Verdict : std::uint8_t {
    passed,
    failed,   ///< a broken promise, a control without its required result, or a regression
    error,    ///< no result, because headcrash or the test failed
    skipped,  ///< the case was not run, or is a control that has no verdict
    note,     ///< passed, with a remark, such as a redundant flush
  };
  std::string group, name;  ///< "check", "ext4"
  Verdict verdict = Verdict::passed;
  std::string message;  ///< one line; empty if the case passed
  std::string details;  ///< further lines; may be empty
  double seconds = 0;
  std::vector<std::string> files;  ///< paths of artefacts: page, recording, account
  std::string source;              ///< file at which a finding is shown; empty if unknown
  int line = 1;                    ///< line in `source`
};

/// Paths of the files to write, as given on the command line. A file whose path is empty is not
/// written.
struct CiFiles {
  std::string junit, sarif, summary;
  bool annotations = false;  ///< print GitHub's ::error lines on standard output
  bool any() const { return !junit.empty() || !sarif.empty() || !summary.empty() || annotations; }
};

/// Adjacent cases with the same group form a test suite.
std::string as_junit(const std::string& title, const std::vector<CiCase>& cases);
std::string as_sarif(const std::vector<CiCase>& cases, const std::string& version);
std::string as_annotations(const std::vector<CiCase>& cases);
std::string as_markdown(const std::string& title, const std::vector<CiCase>& cases);

/// Writes the named files, each completely or not at all, and prints the annotations. If a file
/// cannot be written, returns an error that names it.
Result<void> write_ci_files(const CiFiles& files, const std::string& title,
                            const std::vector<CiCase>& cases, const std::string& version);

}  // namespace headcrash::report
