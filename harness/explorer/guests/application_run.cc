// See application_run.h.
#include "harness/explorer/guests/application_run.h"

#include <fmt/format.h>

#include <fstream>
#include <iterator>

namespace headcrash::explorer {
namespace {

run::Step<void> put_files(StageGuest& guest, const workload::Application& application) {
  for (const auto& [name, text] : application.files) {
    const auto put = guest.put(fmt::format("{}/{}", workload::kApplicationFolder, name), text);
    if (!put) return put;
  }
  return {};
}

}  // namespace

run::Step<void> prepare_application(StageGuest& guest, const workload::Application& application) {
  for (const std::string& tool : application.tools) {
    const auto found = guest.exec({"sh", "-c", "command -v " + tool});
    if (!found) return tl::unexpected(found.error());
    if (found->exit_code != 0) {
      return run::stop(
          oracle::Verdict::harness_error,
          fmt::format("the guest has no {}, which {} needs: install it on this host, or name it under "
                      "`tools` of the file system's [guest]",
                      tool, application.name));
    }
  }
  if (const auto put = put_files(guest, application); !put) return put;
  auto commands = workload::commands(application.prepare, run::kMountPoint);
  commands.push_back({"sync"});
  for (const auto& argv : commands) {
    const auto done = guest.exec(argv);
    if (!done) return tl::unexpected(done.error());
    if (done->exit_code != 0) {
      return run::stop(
          oracle::Verdict::harness_error,
          fmt::format("`prepare` of {} ended with {}: {}", application.name, done->exit_code, done->output));
    }
  }
  return {};
}

run::Step<Verified> put_to_verifier(StageGuest& guest, const adapters::LinuxAdapter& filesystem,
                                    const workload::Application& application,
                                    const std::vector<std::string>& told) {
  std::string why;
  const auto mounted = guest.mount(filesystem, &why);
  if (!mounted) return tl::unexpected(mounted.error());
  if (!*mounted)
    return run::stop(oracle::Verdict::unmountable,
                     "refused when the application was about to verify: " + why);
  if (const auto put = put_files(guest, application); !put) return tl::unexpected(put.error());
  Verified all;
  for (const auto& argv : workload::commands(application.verify, run::kMountPoint)) {
    const auto end = guest.verify_application(argv, oracle::verifier_input(told));
    if (!end) return tl::unexpected(end.error());
    auto findings = oracle::application_findings(*end);
    if (!findings) return run::broken(findings.error());
    all.findings.insert(all.findings.end(), findings->begin(), findings->end());
    const std::string permitted = oracle::permitted_losses(end->output);
    if (!permitted.empty())
      all.permitted += fmt::format("{}{}", all.permitted.empty() ? "" : "; ", permitted);
  }
  if (const auto unmounted = guest.unmount(); !unmounted) return tl::unexpected(unmounted.error());
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
  if (!file) return fail(path.string(), "cannot be written", "make room or choose another folder");
  return {};
}

Result<std::optional<workload::Application>> read_application(const std::filesystem::path& recording) {
  std::ifstream file(application_file(recording), std::ios::binary);
  std::string origin;
  if (!std::getline(file, origin)) return std::nullopt;
  auto application = workload::load_application(origin);
  if (!application) return pass_on(application);
  return std::optional(std::move(*application));
}

}  // namespace headcrash::explorer
