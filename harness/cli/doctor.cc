// Implements `headcrash doctor`, which checks what this machine can run.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <map>
#include <memory>

#include "harness/campaign/campaign.h"
#include "harness/cli/command.h"
#include "harness/run/environment.h"
#include "plugin/base/installation.h"

namespace headcrash::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// The uses of headcrash. Each use needs some of the things that doctor checks.
constexpr unsigned kServe = 1, kQemu = 2, kUserMode = 4, kCheck = 8, kExperiment = 16,
                   kReports = 32;
constexpr unsigned kGuests = kQemu | kUserMode | kCheck;
constexpr std::pair<unsigned, const char*> kUses[] = {
    {kServe, "serve a disk over NBD"},   {kQemu, "campaigns in QEMU"},
    {kUserMode, "user-mode Linux"},      {kCheck, "check of a program"},
    {kExperiment, "experiments, image"}, {kReports, "reports with charts"}};

/// A program that must be in PATH, the package that contains it, and the uses of headcrash that
/// need it.
struct Program {
  const char* name;
  const char* package;
  unsigned uses = 0;
};
constexpr const char* kQemuProgram = "qemu-system-x86_64";
constexpr Program kPrograms[] = {
    {"nbdkit", "nbdkit", kServe | kQemu}, {kQemuProgram, "qemu-system-x86", kQemu},
    {"gnuplot", "gnuplot-nox", kReports}, {"mkfs.ext4", "e2fsprogs", kGuests},
    {"e2fsck", "e2fsprogs", kGuests},     {"cpio", "cpio", kGuests},
    {"depmod", "kmod", kGuests},          {"busybox", "busybox-static", kGuests},
    {"xz", "xz-utils", kGuests},          {"strace", "strace", kCheck},
    {"sqfstar", "squashfs-tools", kCheck}};
/// Programs that are needed only for testing one particular file system.
constexpr Program kMoreFileSystems[] = {
    {"mkfs.xfs", "xfsprogs"},       {"mkfs.btrfs", "btrfs-progs"}, {"mkfs.f2fs", "f2fs-tools"},
    {"mkfs.nilfs2", "nilfs-tools"}, {"mkfs.jfs", "jfsutils"},      {"mkreiserfs", "reiserfsprogs"},
    {"mkfs.minix", "util-linux"}};
constexpr std::uint64_t kWantedFreeBytes = std::uint64_t{2} << 30;

struct Finding {
  std::string what, found, hint;
  bool good = true;
  unsigned needed_for = 0;  ///< uses of headcrash that fail unless `good` is true
  /// uses of headcrash that this finding prevents even if `good` is true
  unsigned missing_for = 0;
};

/// Checks whether the directory for guests is writable. If it does not exist, checks whether it can
/// be created.
Finding examine_cache(const fs::path& cache) {
  fs::path there = cache;
  std::error_code error;
  while (!fs::exists(there, error) && there.has_relative_path()) there = there.parent_path();
  const char* hint = "set HEADCRASH_CACHE to a writable folder";
  if (!fs::is_directory(there, error))
    return {"cache", fmt::format("{} is not a folder", there.string()), hint, false};
  if (::access(there.c_str(), W_OK) != 0)
    return {"cache", fmt::format("{}: {}", there.string(), std::generic_category().message(errno)),
            hint, false};
  const fs::space_info space = fs::space(there, error);
  if (error) return {"cache", fmt::format("{}: {}", there.string(), error.message()), hint, false};
  const bool room = space.available >= kWantedFreeBytes;
  return {"cache", fmt::format("{}, {} MiB free", cache.string(), space.available >> 20),
          room ? "" : "free 2 GiB, or set HEADCRASH_CACHE to another folder", room};
}

/// Checks whether the guest image has been built. Does not build it.
Finding examine_guest(const fs::path& cache) {
  const auto image = vm::built_guest_image(cache);
  if (!image) return {"guest", image.error().problem, "", false};
  if (*image) return {"guest", "kernel " + (*image)->kernel_version, "", true};
  return {"guest", "not built yet",
          "the first command that needs a guest builds it, and downloads Debian's kernel (70 MB)",
          true};
}

/// Checks whether the guest for virtual time has been built. This guest is used only with `guest =
/// "virtual"`.
Finding examine_user_mode_guest(const fs::path& cache) {
  const auto image = vm::built_guest_image(cache, vm::Accelerator::user_mode);
  if (!image) return {"user-mode guest", image.error().problem, "", true, 0, kUserMode};
  if (*image) return {"user-mode guest", "kernel " + (*image)->kernel_version, "", true};
  if (vm::user_mode_kernel_is_built(cache))
    return {"user-mode guest", "its kernel is built",
            "the first command that needs this guest creates its image", true};
  return {"user-mode guest",
          "not built yet",
          "needed only for virtual time: " + base::installation().build_guest.string() +
              " --uml builds it in a few minutes from Debian's Linux source (140 MB); needs 2.4 "
              "GiB of free space",
          true,
          0,
          kUserMode};
}

std::vector<Finding> examine() {
  std::vector<Finding> findings;
  for (const Program& program : kPrograms) {
    const bool there = run::is_in_path(program.name);
    findings.push_back({program.name, there ? "found" : "not found",
                        there ? "" : fmt::format("apt-get install {}", program.package), there,
                        program.uses});
  }
  for (const Program& program : kMoreFileSystems) {
    const bool there = run::is_in_path(program.name);
    findings.push_back({program.name,
                        there ? "found" : "not found, so its file system cannot be tested",
                        there ? "" : fmt::format("apt-get install {}", program.package), true});
  }
  const fs::path plugin_file = base::installation().plugin;
  const bool plugin = fs::exists(plugin_file);
  findings.push_back({"plugin", plugin_file.string(),
                      plugin ? "" : "to build it, run: cmake --build --preset release", plugin,
                      kServe | kQemu});
  const fs::path cache = campaign::default_cache();
  const vm::AcceleratorProbe probe = vm::probe_accelerator(cache);
  findings.push_back(
      {"accelerator", fmt::format("{} ({})", vm::name(probe.accelerator), probe.reason), "", true});
  findings.push_back(examine_cache(cache));
  findings.back().needed_for = kGuests;
  const Finding user_mode = examine_user_mode_guest(cache);
  findings.push_back(examine_guest(cache));
  findings.back().needed_for = kQemu;
  // `headcrash check` can use either kind of guest, so it needs QEMU only if the other kind is
  // missing.
  if (user_mode.missing_for != 0) {
    findings.back().needed_for |= kCheck;
    for (Finding& finding : findings)
      if (finding.what == kQemuProgram) finding.needed_for |= kCheck;
  }
  findings.push_back(user_mode);
  return findings;
}

/// Returns each use of headcrash, with a list of what this machine lacks for that use.
std::vector<std::pair<std::string, std::vector<std::string>>> lacking(
    const std::vector<Finding>& findings) {
  std::vector<std::pair<std::string, std::vector<std::string>>> uses;
  for (const auto& [use, name] : kUses) {
    uses.emplace_back(name, std::vector<std::string>{});
    for (const Finding& finding : findings)
      if (((finding.good ? 0 : finding.needed_for) | finding.missing_for) & use)
        uses.back().second.push_back(finding.what);
  }
  return uses;
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
                      {"remedy", finding.hint}});
  }
  const auto uses = lacking(findings);
  if (as_json) {
    print({{"host", host},
           {"versions", versions},
           {"checks", checks},
           {"lacking", json(std::map(uses.begin(), uses.end()))},
           {"good", good}});
    return good ? kFine : kUsage;
  }
  fmt::print("host      {}, {} cores, {} MiB, {}, Linux {}\n", host.value("cpu", ""),
             host.value("cores", 0), host.value("memory_mib", 0), host.value("os", ""),
             host.value("kernel", ""));
  for (const auto& [program, version] : versions.items())
    fmt::print("{:<9} {}\n", program, version.get<std::string>());
  for (const Finding& finding : findings) {
    fmt::print("{} {}: {}{}\n", finding.good ? "  ok  " : "  BAD ", finding.what, finding.found,
               finding.hint.empty() ? "" : "; " + finding.hint);
  }
  for (const auto& [use, lacks] : uses)
    fmt::print("{:<24}{}\n", use,
               lacks.empty() ? "ready" : fmt::format("lacks {}", fmt::join(lacks, ", ")));
  fmt::print("{}\n", good ? "This machine can run campaigns."
                          : "Some uses are not possible yet: fix the items marked BAD.");
  return good ? kFine : kUsage;
}

}  // namespace

void add_doctor(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "doctor", "Checks what this machine can run: accelerator, kernel, packages");
  const auto as_json = std::make_shared<bool>(false);
  command->add_flag("--json", *as_json, "Machine-readable output");
  command->footer(
      "Examples:\n  headcrash doctor\n  headcrash doctor --json\n\nExit code 2: an item is "
      "marked BAD.");
  command->callback([as_json, &exit_code] { exit_code = doctor(*as_json); });
}

}  // namespace headcrash::cli
