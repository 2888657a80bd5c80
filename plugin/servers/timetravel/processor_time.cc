#include "plugin/servers/timetravel/processor_time.h"

#include <fmt/format.h>

#include <cerrno>
#include <ctime>
#include <fstream>
#include <optional>
#include <utility>
#include <vector>

#include "plugin/base/errno_text.h"

namespace headcrash::timetravel {
namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;

std::optional<std::int64_t> used_by(pid_t process) {
  clockid_t clock{};
  timespec used{};
  if (::clock_getcpuclockid(process, &clock) != 0 || ::clock_gettime(clock, &used) != 0)
    return std::nullopt;
  return used.tv_sec * kNsPerSecond + used.tv_nsec;
}

std::string children_file(pid_t process) {
  return fmt::format("/proc/{0}/task/{0}/children", process);
}

}  // namespace

Result<ProcessorTime> ProcessorTime::of(pid_t process) {
  if (!used_by(process))
    return fail("guest", "cannot read its processor time: " + base::errno_text(errno),
                "omit the charge");
  if (!std::ifstream(children_file(process)))
    return fail(children_file(process), "cannot be read, so the time of its programs is unknown",
                "use a host kernel with CONFIG_PROC_CHILDREN, or omit the charge");
  ProcessorTime time(process);
  time.take_ns();
  return time;
}

std::int64_t ProcessorTime::take_ns() {
  std::vector<pid_t> there{process_};
  std::ifstream children(children_file(process_));
  for (pid_t child = 0; children >> child;) there.push_back(child);
  std::int64_t sum = 0;
  std::map<pid_t, std::int64_t> now;
  for (const pid_t process : there) {
    const auto used = used_by(process);
    if (!used) continue;
    const auto before = used_ns_.find(process);
    // A value smaller than the stored one belongs to a new process that reused the process id.
    const bool same = before != used_ns_.end() && before->second <= *used;
    sum += *used - (same ? before->second : 0);
    now.emplace(process, *used);
  }
  used_ns_ = std::move(now);
  return sum;
}

}  // namespace headcrash::timetravel
