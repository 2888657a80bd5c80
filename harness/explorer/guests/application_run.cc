// Runs the commands that prepare and verify an application (application_run.h).
#include "harness/explorer/guests/application_run.h"

#include <fmt/format.h>

#include <fstream>
#include <iterator>

namespace headcrash::explorer {
namespace {

// The report is read in parts of this size, because the agent returns only the last 64 KiB of a
// command's output.
constexpr std::size_t kReportPartBytes = 48 << 10;

Result<void> store_files(StageGuest& guest, const workload::Application& application) {
  for (const auto& [name, text] : application.files) {
    const auto put = guest.put(fmt::format("{}/{}", workload::kApplicationFolder, name), text);
    if (!put) return put;
  }
  return {};
}

}  // namespace

Result<void> prepare_application(StageGuest& guest, const workload::Application& application) {
  for (const std::string& tool : application.tools) {
    TRY(const auto found, guest.exec({"sh", "-c", "command -v " + tool}));
    if (found.exit_code != 0) {
      return run::stop(
          ErrorKind::other,
          fmt::format("the guest has no {}, which {} needs: install it on this host, or add it to "
                      "`tools` under the file system's [guest]",
                      tool, application.name));
    }
  }
  TRY(store_files(guest, application));
  auto commands = workload::argvs(application, application.prepare, run::kMountPoint);
  commands.push_back({"sync"});
  for (const auto& argv : commands) {
    TRY(const auto done, guest.exec(argv));
    if (done.exit_code != 0) {
      return run::stop(ErrorKind::other,
                       fmt::format("`prepare` of {} exited with code {}: {}", application.name,
                                   done.exit_code, done.output));
    }
  }
  return {};
}

Result<std::string> read_report(StageGuest& guest, const workload::Application& application) {
  if (application.report.empty()) return std::string();
  const std::string path = fmt::format("{}/{}", workload::kApplicationFolder, application.report);
  std::string report;
  for (;;) {
    TRY(const auto part, guest.exec({"sh", "-c",
                                     fmt::format("busybox tail -c +{} {} | busybox head -c {}",
                                                 report.size() + 1, path, kReportPartBytes)}));
    if (part.exit_code != 0)
      return run::stop(ErrorKind::other, fmt::format("{} cannot be read: {}", path, part.output));
    if (part.standard == 0) break;
    report += part.out();
  }
  if (report.empty()) return run::stop(ErrorKind::other, path + " was not written");
  return report;
}

Result<VerifierResult> run_verifier(StageGuest& guest, const adapters::LinuxAdapter& filesystem,
                                    const workload::Application& application,
                                    const std::vector<std::string>& marks) {
  std::string why;
  TRY(const auto mounted, guest.mount(filesystem, &why));
  if (!mounted)
    return run::stop(ErrorKind::unmountable,
                     "the kernel refused to mount the file system for the verifier: " + why);
  TRY(store_files(guest, application));
  VerifierResult all;
  for (const auto& argv : workload::argvs(application, application.verify, run::kMountPoint)) {
    TRY(const auto end, guest.verify_application(argv, oracle::verifier_input(marks)));
    TRY(auto findings, application.verify_by_exit_code ? oracle::exit_code_findings(end)
                                                       : oracle::application_findings(end));
    all.findings.insert(all.findings.end(), findings.begin(), findings.end());
    const std::string permitted = oracle::permitted_losses(end.output);
    if (!permitted.empty())
      all.permitted += fmt::format("{}{}", all.permitted.empty() ? "" : "; ", permitted);
  }
  TRY(guest.unmount());
  return all;
}

std::filesystem::path application_file(const std::filesystem::path& recording) {
  return std::filesystem::path(recording).replace_extension(".application.txt");
}

Result<void> write_application_name(const std::filesystem::path& recording,
                                    const workload::Application& application) {
  const std::filesystem::path path = application_file(recording);
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << application.origin << '\n';
  file.close();
  if (!file)
    return fail(path.string(), "cannot be written", "free some space, or choose another folder");
  return {};
}

Result<std::optional<workload::Application>> read_application(
    const std::filesystem::path& recording) {
  std::ifstream file(application_file(recording), std::ios::binary);
  std::string origin;
  if (!std::getline(file, origin)) return std::nullopt;
  TRY(auto application, workload::load_application(origin));
  return std::optional(std::move(application));
}

}  // namespace headcrash::explorer
