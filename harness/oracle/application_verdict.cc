// Converts the output lines and the exit code of a verifier to findings (application_verdict.h).
#include "harness/oracle/application_verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "plugin/base/command_text.h"

namespace headcrash::oracle {
namespace {

constexpr std::string_view kPersistedMark = "persisted ";
constexpr std::size_t kPermittedMost = 8;
constexpr int kNotExecutable = 126, kNotFound = 127;  // exit codes of a shell

std::optional<Finding> finding_in(std::string_view line) {
  constexpr std::string_view kLost = "lost: ", kWrong = "wrong: ";
  if (line.starts_with(kLost)) {
    return Finding{Verdict::lost_synced_data, Tier::posix, std::string(line.substr(kLost.size())),
                   "present after the power cut", "missing"};
  }
  if (line.starts_with(kWrong)) {
    return Finding{Verdict::wrong_data, Tier::integrity, std::string(line.substr(kWrong.size())),
                   "data that the application wrote", "data that it never wrote"};
  }
  return std::nullopt;
}

std::string last_line(std::string_view text) {
  return base::last_line(text).substr(0, 200);
}

}  // namespace

Result<std::vector<Finding>> application_findings(const VerifierEnd& verifier) {
  std::vector<Finding> findings;
  std::size_t more = 0;
  for (std::string_view rest = verifier.output; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    if (auto finding = finding_in(rest.substr(0, end))) {
      if (findings.size() < kApplicationFindingsMost) {
        findings.push_back(std::move(*finding));
      } else {
        ++more;
      }
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (more > 0) findings.back().found += fmt::format("; and {} more lines", more);
  const bool agrees = verifier.exit_code == (findings.empty() ? 0 : 1);
  if (agrees) return findings;
  return fail(
      "the application's verifier",
      fmt::format("exited with code {} after it reported {} losses: {}", verifier.exit_code,
                  findings.size() + more, last_line(verifier.errors)),
      "it must print \"lost:\" or \"wrong:\" lines and exit with code 1, or print no such line "
      "and exit with code 0");
}

Result<std::vector<Finding>> exit_code_findings(const VerifierEnd& verifier) {
  if (verifier.exit_code == 0) return std::vector<Finding>();
  const std::string errors = last_line(verifier.errors), output = last_line(verifier.output);
  const std::string& said = output.empty() ? errors : output;
  if (verifier.exit_code == kNotExecutable || verifier.exit_code == kNotFound)
    return fail("the application's verifier", "cannot be started in the guest: " + said,
                "add the missing program with --files");
  return std::vector{
      Finding{Verdict::lost_synced_data, Tier::posix, "verifier", "exit code 0",
              fmt::format("exit code {}{}{}", verifier.exit_code, said.empty() ? "" : ": ", said)}};
}

std::string permitted_losses(std::string_view output) {
  constexpr std::string_view kPermitted = "permitted: ";
  std::string text;
  std::size_t count = 0;
  while (!output.empty()) {
    const std::size_t end = std::min(output.find('\n'), output.size());
    const std::string_view line = output.substr(0, end);
    output.remove_prefix(std::min(end + 1, output.size()));
    if (!line.starts_with(kPermitted)) continue;
    if (++count > kPermittedMost) continue;
    text += fmt::format("{}{}", text.empty() ? "" : "; ", line.substr(kPermitted.size()));
  }
  if (count > kPermittedMost) text += fmt::format("; and {} more", count - kPermittedMost);
  return text;
}

std::string verifier_input(const std::vector<std::string>& marks) {
  std::string text;
  for (const std::string& mark : marks) {
    if (mark.starts_with(kPersistedMark)) text += mark.substr(kPersistedMark.size()) + "\n";
  }
  return text;
}

}  // namespace headcrash::oracle
