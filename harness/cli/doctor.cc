// headcrash doctor: what this machine can run, found out by trying.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <sstream>

#include "harness/campaign/campaign.h"
#include "harness/cli/command.h"
#include "harness/run/environment.h"
#include "plugin/base/installation.h"

namespace headcrash::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kPrograms[] = {"nbdkit",   "qemu-system-x86_64", "gnuplot", "mkfs.ext4", "e2fsck",
                                     "mkfs.xfs", "xfs_repair",         "cpio",    "busybox"};
constexpr std::uint64_t kWantedFreeBytes = std::uint64_t{2} << 30;

bool in_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::stringstream folders((path != nullptr ? std::string(path) : "") + ":/usr/sbin:/sbin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (::access((fs::path(folder) / program).c_str(), X_OK) == 0) return true;
  }
  return false;
}

struct Finding {
  std::string what, found, remedy;
  bool good = true;
};

std::vector<Finding> examine() {
  std::vector<Finding> findings;
  for (const char* program : kPrograms) {
    const bool there = in_path(program);
    findings.push_back({program, there ? "found" : "not found", there ? "" : "run scripts/setup", there});
  }
  const fs::path plugin_file = base::installation().plugin;
  const bool plugin = fs::exists(plugin_file);
  findings.push_back(
      {"plugin", plugin_file.string(), plugin ? "" : "build it: cmake --build --preset release", plugin});

  const vm::AcceleratorProbe probe = vm::probe_accelerator(campaign::default_cache());
  findings.push_back(
      {"accelerator",
       fmt::format("{} ({})", probe.accelerator == vm::Accelerator::kvm ? "kvm" : "tcg", probe.reason), "",
       true});

  std::error_code error;
  fs::create_directories(campaign::default_cache(), error);
  const fs::space_info space = fs::space(campaign::default_cache(), error);
  const bool room = !error && space.available >= kWantedFreeBytes;
  findings.push_back(
      {"cache",
       fmt::format("{}, {} MiB free", campaign::default_cache().string(), error ? 0 : space.available >> 20),
       room ? "" : "make 2 GiB of room, or set HEADCRASH_CACHE", room});

  const Result<vm::GuestImage> image = vm::guest_image(campaign::default_cache());
  findings.push_back({"guest", image ? "kernel " + image->kernel_version : image.error().message(),
                      image ? "" : "run scripts/setup, then scripts/build-guest", image.has_value()});
  return findings;
}

int doctor(bool as_json) {
  const json host = run::host_description();
  const json versions = run::tool_versions();
  const std::vector<Finding> findings = examine();
  bool good = true;
  json checks = json::array();
  for (const Finding& finding : findings) {
    good = good && finding.good;
    checks.push_back({{"what", finding.what},
                      {"good", finding.good},
                      {"found", finding.found},
                      {"remedy", finding.remedy}});
  }
  if (as_json) {
    print({{"host", host}, {"versions", versions}, {"checks", checks}, {"good", good}});
    return good ? kFine : kUsage;
  }
  fmt::print("host      {}, {} cores, {} MiB, {}, Linux {}\n", host.value("cpu", ""), host.value("cores", 0),
             host.value("memory_mib", 0), host.value("os", ""), host.value("kernel", ""));
  for (const auto& [program, version] : versions.items())
    fmt::print("{:<9} {}\n", program, version.get<std::string>());
  for (const Finding& finding : findings) {
    fmt::print("{} {}: {}{}\n", finding.good ? "  ok  " : "  BAD ", finding.what, finding.found,
               finding.remedy.empty() ? "" : "; " + finding.remedy);
  }
  fmt::print("{}\n", good ? "This machine can run campaigns." : "Something is missing.");
  return good ? kFine : kUsage;
}

}  // namespace

void add_doctor(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("doctor", "Tries out what this machine can run: accelerator, kernel, packages");
  const auto as_json = std::make_shared<bool>(false);
  command->add_flag("--json", *as_json, "Machine-readable output");
  command->footer(
      "Examples:\n  headcrash doctor\n  headcrash doctor --json\n\nExit code 2: something that "
      "campaigns need is missing.");
  command->callback([as_json, &exit_code] { exit_code = doctor(*as_json); });
}

}  // namespace headcrash::cli
