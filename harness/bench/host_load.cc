// Reads /proc/stat, and /proc/PID/stat for this process and all its descendants (host_load.h;
// fields: proc(5)).
#include "harness/bench/host_load.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace headcrash::bench {
namespace {

struct Used {
  int parent = 0;
  std::uint64_t ticks = 0;  ///< CPU time of the process and its reaped children
};

/// Parses /proc/PID/stat. The command's name may contain blanks and parentheses, so the fields are
/// searched for after the last parenthesis.
bool read_process(const std::filesystem::path& folder, Used& used) {
  std::ifstream in(folder / "stat");
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return false;
  std::istringstream fields(text.substr(name_end + 1));
  std::string state, skipped;
  fields >> state >> used.parent;
  for (int i = 0; i < 9; ++i) fields >> skipped;  // skip the fields pgrp to cmajflt
  std::uint64_t ticks = 0;
  for (int i = 0; i < 4 && fields >> ticks; ++i)
    used.ticks += ticks;  // the fields utime, stime, cutime, cstime
  return static_cast<bool>(fields);
}

std::uint64_t own_ticks() {
  std::map<int, Used> processes;
  std::error_code error;
  for (std::filesystem::directory_iterator entry("/proc", error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename();
    int pid = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), pid).ptr !=
        name.data() + name.size())
      continue;
    Used used;
    if (read_process(entry->path(), used)) processes[pid] = used;
  }
  std::uint64_t ticks = 0;
  std::vector<int> waiting{::getpid()};
  while (!waiting.empty()) {
    const int pid = waiting.back();
    waiting.pop_back();
    const auto process = processes.find(pid);
    if (process == processes.end()) continue;
    ticks += process->second.ticks;
    // Count each process only once, even if its parent changes while /proc is read.
    processes.erase(process);
    for (const auto& [child, used] : processes) {
      if (used.parent == pid) waiting.push_back(child);
    }
  }
  return ticks;
}

}  // namespace

HostLoad host_load() {
  HostLoad load{.own = own_ticks()};
  std::ifstream in("/proc/stat");
  std::string word;
  in >> word;
  std::uint64_t ticks = 0;
  // The fields are user, nice, system, idle, iowait, irq, softirq, steal
  for (int i = 0; i < 8 && in >> ticks; ++i) {
    load.all += ticks;
    if (i != 3 && i != 4) load.busy += ticks;
  }
  return load;
}

double used_by_others(const HostLoad& before, const HostLoad& after) {
  const auto passed = [](std::uint64_t from, std::uint64_t to) {
    return to > from ? static_cast<double>(to - from) : 0.0;
  };
  const double all = passed(before.all, after.all);
  if (all <= 0) return 0;
  const double others = passed(before.busy, after.busy) - passed(before.own, after.own);
  return std::clamp(others / all, 0.0, 1.0);
}

}  // namespace headcrash::bench
