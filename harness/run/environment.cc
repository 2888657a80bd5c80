// Reads descriptions of the host from files, and runs programs to determine their versions.
#include "harness/run/environment.h"

#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <thread>

#include "plugin/base/version.h"

namespace headcrash::run {
namespace {

/// Finds the first line that starts with `key`. Returns the text after `separator` in this line,
/// without the blanks and quotes that surround it.
std::string value_in(const char* file, const std::string& key, char separator) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(key)) continue;
    const std::size_t at = line.find(separator);
    if (at == std::string::npos) continue;
    std::string value = line.substr(at + 1);
    value.erase(0, value.find_first_not_of(" \t\""));
    value.erase(value.find_last_not_of(" \t\"") + 1);
    return value;
  }
  return "unknown";
}

std::string first_line(const char* command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command, "re"), ::pclose);
  char line[256];
  if (!pipe || std::fgets(line, sizeof line, pipe.get()) == nullptr) return "not found";
  const std::string text(line);
  return text.substr(0, text.find('\n'));
}

}  // namespace

nlohmann::json host_description() {
  utsname kernel{};
  ::uname(&kernel);
  struct sysinfo memory{};
  ::sysinfo(&memory);
  return {{"cpu", value_in("/proc/cpuinfo", "model name", ':')},
          {"cores", std::thread::hardware_concurrency()},
          {"memory_mib", static_cast<std::uint64_t>(memory.totalram) * memory.mem_unit >> 20},
          {"kernel", kernel.release},
          {"os", value_in("/etc/os-release", "PRETTY_NAME", '=')}};
}

nlohmann::json tool_versions() {
  return {{"headcrash", base::version()},
          {"nbdkit", first_line("nbdkit --version 2>/dev/null")},
          {"qemu", first_line("qemu-system-x86_64 --version 2>/dev/null")},
          {"e2fsprogs", first_line("PATH=$PATH:/usr/sbin:/sbin e2fsck -V 2>&1")},
          {"xfsprogs", first_line("PATH=$PATH:/usr/sbin:/sbin mkfs.xfs -V 2>/dev/null")}};
}

bool is_in_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::stringstream folders((path != nullptr ? std::string(path) : "") + ":/usr/sbin:/sbin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (::access((std::filesystem::path(folder) / program).c_str(), X_OK) == 0) return true;
  }
  return false;
}

}  // namespace headcrash::run
