// Builds guest images with scripts/build-guest and describes them (guest.h).
#include <fcntl.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <set>
#include <string>

#include "harness/vm/guest.h"
#include "harness/vm/machine.h"
#include "plugin/base/installation.h"
#include "plugin/base/process.h"

namespace headcrash::vm {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::minutes kBuildLimit{15};  // long enough to download 70 MB
constexpr std::chrono::minutes kUserModeLimit{
    120};  // long enough to compile a kernel, possibly after waiting for another build

/// Edits that the source of a user-mode kernel must contain (scripts/build-uml). `otherwise` is the
/// consequence if an edit is missing.
struct Edit {
  std::string_view name, otherwise;
};
constexpr Edit kNeededEdits[] = {
    {"exit-kill", "the guest's programs would keep running on the host after a power cut"},
    {"spin", "a guest that polls a disk without sleeping would hang"}};

constexpr std::chrono::seconds kKernelCheckLimit{30};
constexpr int kNotBuilt = 3;  // exit code of build-guest --check
constexpr std::string_view kOfScript = "build-guest: ";

std::string read_all(std::FILE* file) {
  std::string text;
  std::array<char, 4096> buffer;
  std::rewind(file);
  for (std::size_t got = 0; (got = std::fread(buffer.data(), 1, buffer.size(), file)) > 0;)
    text.append(buffer.data(), got);
  return text;
}

/// Exit status and standard output of the script.
struct Built {
  int status = 0;
  std::string said;
};
Result<Built> build_guest(const fs::path& cache, const adapters::GuestParts& parts,
                          Accelerator accelerator, const std::vector<std::string>& more,
                          int errors) {
  const base::Installation own = base::installation();
  const fs::path& script = own.build_guest;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> output(std::tmpfile(), std::fclose);
  if (!output)
    return fail(script.string(), "cannot create a temporary file for the script's output",
                "set TMPDIR to a folder with free space");
  std::vector<std::string> argv{script.string(), "--agent", own.agent.string()};
  if (accelerator == Accelerator::user_mode) argv.emplace_back("--uml");
  // --stacks is needed only for a user-mode kernel. Debian's kernel can always record the stacks of
  // writes.
  if (parts.stacks && accelerator == Accelerator::user_mode) argv.emplace_back("--stacks");
  argv.insert(argv.end(), more.begin(), more.end());
  const auto add = [&](const char* option, const std::string& value) {
    argv.insert(argv.end(), {option, value});
  };
  if (!parts.kernel.empty()) add("--kernel", parts.kernel);
  for (const std::string& module : parts.modules) add("--module", module);
  if (accelerator != Accelerator::user_mode)
    for (const std::string& module : parts.loads) add("--load", module);
  for (const auto* tools : {&parts.tools, &parts.application_tools})
    for (const std::string& tool : *tools) add("--tool", tool);
  for (const std::string& package : parts.packages) add("--package", package);
  if (!parts.rootfs.empty()) {
    add("--rootfs", parts.rootfs);
    if (accelerator != Accelerator::user_mode)
      for (const char* module : {"loop", "squashfs", "overlay"}) add("--load", module);
  }
  argv.push_back(cache.string());
  TRY(auto process,
      base::Process::start(
          {.argv = std::move(argv), .output = ::fileno(output.get()), .errors = errors}));
  const auto status =
      process.wait(accelerator == Accelerator::user_mode ? kUserModeLimit : kBuildLimit);
  if (!status) return fail(script.string(), "timed out");
  return Built{*status, read_all(output.get())};
}

}  // namespace

Result<GuestImage> guest_image_in(const fs::path& folder) {
  std::ifstream file(folder / "info.json");
  const nlohmann::json info = nlohmann::json::parse(file, nullptr, false);
  const auto has_text = [&](const char* key) {
    return info.contains(key) && info[key].is_string();
  };
  if (!info.is_object() || !has_text("key") || !has_text("kernel_version")) {
    return fail((folder / "info.json").string(), "does not describe a guest image",
                "delete the folder");
  }
  const bool user_mode = info.contains("uml") && info["uml"] == true;
  if (user_mode) {
    const nlohmann::json edits = info.value("edits", nlohmann::json::array());
    for (const Edit& edit : kNeededEdits) {
      if (!edits.is_array() || std::find(edits.begin(), edits.end(), edit.name) == edits.end()) {
        return fail(info["kernel_version"].get<std::string>(),
                    fmt::format("the kernel was built without the source edit {}, so {}", edit.name,
                                edit.otherwise),
                    "delete the folder " + folder.string() + ", and use another kernel");
      }
    }
  }
  return GuestImage{.kernel = folder / (user_mode ? "linux" : "vmlinuz"),
                    .initramfs = folder / "initramfs",
                    .kernel_version = info["kernel_version"],
                    .key = info["key"],
                    .user_mode = user_mode};
}

Result<GuestImage> guest_image(const fs::path& cache, const adapters::GuestParts& parts,
                               Accelerator accelerator) {
  TRY(const auto built, build_guest(cache, parts, accelerator, {}, STDERR_FILENO));
  if (built.status != 0) {
    return fail(
        "guest image", "cannot be built",
        "the preceding line states the reason; run `headcrash doctor` to check the requirements");
  }
  return guest_image_in(last_lines(built.said, 1));
}

Result<std::optional<GuestImage>> built_guest_image(const fs::path& cache,
                                                    Accelerator accelerator) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> errors(std::tmpfile(), std::fclose);
  if (!errors)
    return fail("guest image", "cannot create a temporary file",
                "set TMPDIR to a folder with free space");
  TRY(const auto built, build_guest(cache, {}, accelerator, {"--check"}, ::fileno(errors.get())));
  if (built.status == kNotBuilt) return std::optional<GuestImage>();
  if (built.status != 0) {
    std::string why = last_lines(read_all(errors.get()), 1);
    if (why.starts_with(kOfScript)) why.erase(0, kOfScript.size());
    return fail("guest image", "cannot be built: " + why);
  }
  TRY(const auto image, guest_image_in(last_lines(built.said, 1)));
  return std::optional(image);
}

bool user_mode_kernel_is_built(const fs::path& cache, const adapters::GuestParts& parts) {
  const fs::path script = base::installation().build_guest.parent_path() / "build-uml";
  std::vector<std::string> argv = {script.string(), "--check"};
  if (!parts.kernel.empty()) argv.insert(argv.end(), {"--kernel", parts.kernel});
  if (parts.stacks) argv.emplace_back("--stacks");
  argv.push_back(cache.string());
  const auto process = base::Process::start({.argv = std::move(argv)});
  return process && process->wait(kKernelCheckLimit) == 0;
}

Result<GuestImages> guest_images(const fs::path& cache,
                                 const std::map<std::string, adapters::GuestParts>& parts,
                                 Accelerator accelerator) {
  GuestImages images;
  for (const auto& each : parts) {
    const auto same = std::ranges::find_if(
        images, [&](const auto& made) { return parts.at(made.first) == each.second; });
    TRY(auto image, same == images.end() ? guest_image(cache, each.second, accelerator)
                                         : Result<GuestImage>(same->second));
    images[each.first] = std::move(image);
  }
  return images;
}

std::string kernels_of(const GuestImages& images) {
  std::set<std::string> versions;
  for (const auto& [name, image] : images) versions.insert(image.kernel_version);
  return fmt::format("{}", fmt::join(versions, ", "));
}

}  // namespace headcrash::vm
