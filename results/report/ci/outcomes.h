#pragma once
// The outcome of a command in the forms that continuous integration shows: JUnit XML, SARIF 2.1.0,
// GitHub's workflow commands and a summary in Markdown. Every command gives the same list of cases,
// and every form is made of it.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "plugin/base/result.h"

namespace headcrash::report {

/// One thing that was tested: a file system under a program, a trial of a campaign.
struct CiCase {
  enum class Verdict : std::uint8_t {
    passed,
    failed,   ///< a promise was lost
    error,    ///< nothing is known: an error of the laboratory or of the test
    skipped,  ///< not run, or a control that has no verdict of its own
  };
  std::string group, name;  ///< "check", "ext4"
  Verdict verdict = Verdict::passed;
  std::string message;  ///< one line; empty if passed
  std::string details;  ///< further lines; may be empty
  double seconds = 0;
  std::vector<std::string> files;  ///< page, recording, account: paths of artefacts
  std::string source;              ///< file that a finding is shown at; empty: none is known
};

/// Files to write, as the options of a command name them; empty: none.
struct CiFiles {
  std::string junit, sarif, summary;
  bool annotations = false;  ///< print GitHub's ::error lines on standard output
  bool any() const { return !junit.empty() || !sarif.empty() || !summary.empty() || annotations; }
};

/// Neighbours of one group are a test suite.
std::string as_junit(const std::string& title, const std::vector<CiCase>& cases);
std::string as_sarif(const std::vector<CiCase>& cases, const std::string& version);
std::string as_annotations(const std::vector<CiCase>& cases);
std::string as_markdown(const std::string& title, const std::vector<CiCase>& cases);

/// Writes the files that are named, each whole or not at all, and prints the annotations. Fails
/// with the name of the file that cannot be written.
Result<void> write_ci_files(const CiFiles& files, const std::string& title,
                            const std::vector<CiCase>& cases, const std::string& version);

}  // namespace headcrash::report
