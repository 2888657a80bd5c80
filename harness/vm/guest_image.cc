// The guest image: what scripts/build-guest makes (guest.h).
#include <fcntl.h>
#include <fmt/ranges.h>
#include <unistd.h>

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

constexpr std::chrono::minutes kBuildLimit{15};  // a download of 70 MB may be among it

std::string read_all(std::FILE* file) {
  std::string text;
  std::array<char, 4096> buffer;
  std::rewind(file);
  for (std::size_t got = 0; (got = std::fread(buffer.data(), 1, buffer.size(), file)) > 0;)
    text.append(buffer.data(), got);
  return text;
}

}  // namespace

Result<GuestImage> guest_image(const fs::path& cache, const adapters::GuestParts& parts) {
  const base::Installation own = base::installation();
  const fs::path& script = own.build_guest;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> output(std::tmpfile(), std::fclose);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> errors(std::tmpfile(), std::fclose);
  if (!output || !errors) return fail(script.string(), "no temporary file for its output");
  std::vector<std::string> argv{script.string(), "--agent", own.agent.string()};
  const auto add = [&](const char* option, const std::string& value) {
    argv.insert(argv.end(), {option, value});
  };
  if (!parts.kernel.empty()) add("--kernel", parts.kernel);
  for (const std::string& module : parts.modules) add("--module", module);
  for (const std::string& tool : parts.tools) add("--tool", tool);
  argv.push_back(cache.string());
  auto process = base::Process::start(
      {.argv = std::move(argv), .output = ::fileno(output.get()), .errors = STDERR_FILENO});
  if (!process) return pass_on(process);
  const auto status = process->wait(kBuildLimit);
  if (!status) return fail(script.string(), "did not finish in time");
  if (*status != 0) {
    return fail(script.string(), "the guest image could not be built",
                "see its last line above; scripts/setup installs all it needs");
  }
  const fs::path folder = last_lines(read_all(output.get()), 1);
  std::ifstream file(folder / "info.json");
  const nlohmann::json info = nlohmann::json::parse(file, nullptr, false);
  if (!info.is_object() || !info.contains("key") || !info.contains("kernel_version")) {
    return fail((folder / "info.json").string(), "does not describe a guest", "delete the folder");
  }
  return GuestImage{.kernel = folder / "vmlinuz",
                    .initramfs = folder / "initramfs",
                    .kernel_version = info["kernel_version"],
                    .key = info["key"]};
}

std::string kernels_of(const std::map<std::string, GuestImage>& images) {
  std::set<std::string> versions;
  for (const auto& [name, image] : images) versions.insert(image.kernel_version);
  return fmt::format("{}", fmt::join(versions, ", "));
}

}  // namespace headcrash::vm
