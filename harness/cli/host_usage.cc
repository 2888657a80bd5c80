// Determines how much of the host's resources headcrash has used (host_usage.h).
#include "harness/cli/host_usage.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace headcrash::cli {

double cpu_seconds_used() {
  double total = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    ::getrusage(who, &usage);
    for (const timeval& time : {usage.ru_utime, usage.ru_stime})
      total += static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  }
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    std::ifstream file(entry.path() / "stat");
    std::string line;
    if (!std::getline(file, line)) continue;
    long parent = 0;
    unsigned long user = 0, system = 0;
    const std::size_t at = line.rfind(')');
    if (at == std::string::npos ||
        std::sscanf(line.c_str() + at + 1, " %*c %ld %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu",
                    &parent, &user, &system) != 3) {
      continue;
    }
    if (parent == ::getpid())
      total += static_cast<double>(user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
  }
  return total;
}

std::uint64_t peak_memory_bytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) << 10U;
}

std::string peak_memory_text() {
  return fmt::format("at most {} MiB of memory", peak_memory_bytes() >> 20U);
}

}  // namespace headcrash::cli
