// headcrash-agent, which is process 1 of the guest.
//
// The agent mounts the file systems that programs expect, loads the modules, and opens the channel
// to the host. It then answers requests until the power is cut.
//
// If the agent exits, the kernel panics and, because of an option on its command line, resets the
// machine. The reset ends QEMU, so the host always notices a broken guest.

#include <fcntl.h>
#include <fmt/format.h>
#include <malloc.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "harness/guest/channel.h"
#include "harness/guest/commands.h"
#include "harness/guest/kernel.h"
#include "harness/workload/operation.h"

namespace {

using headcrash::guest::Channel;

constexpr std::size_t kBootSeedBytes = 32;
constexpr int kKeptHeapBytes = 32 << 20;

void say(const std::string& text) {
  std::fputs(fmt::format("headcrash-agent: {}\n", text).c_str(), stderr);  // stderr may be closed
}

void mount_at(const char* type, const char* target, const char* data) {
  ::mkdir(target, 0755);
  if (::mount(type, target, type, MS_NOSUID, data) != 0)
    say(fmt::format("cannot mount {}", target));
}

void make_system_mounts() {
  mount_at("proc", "/proc", "");
  mount_at("sysfs", "/sys", "");
  mount_at("devtmpfs", "/dev", "");
  mount_at("tmpfs", "/tmp", "mode=1777");
  mount_at("tmpfs", "/run", "mode=755");
}

// Opens the console. The kernel itself opens /dev/console for process 1 only if the initramfs
// contains it. In user-mode Linux, the console cannot be opened if it is not a terminal; messages
// then go to the kernel's log.
void open_console() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    int file = ::open("/dev/console", O_RDWR);
    if (file < 0) file = ::open(fd == STDIN_FILENO ? "/dev/null" : "/dev/kmsg", O_RDWR);
    if (file < 0 || file == fd) continue;
    ::dup2(file, fd);
    if (file > STDERR_FILENO) ::close(file);
  }
}

/// Raises the limit on open files above the number of files that a workload and the agent open
/// together.
void permit_open_files() {
  constexpr rlim_t kMost = headcrash::workload::kOpenFilesMost + 1024;
  const rlimit files{.rlim_cur = kMost, .rlim_max = kMost};
  if (::setrlimit(RLIMIT_NOFILE, &files) != 0) say("cannot raise the limit on open files");
}

/// Loads all modules that the file `order` in `folder` names, one on each line, and reports each
/// failure. All modules are in this directory of the initramfs. scripts/build-guest lists them in
/// loading order: a module comes after the modules that it needs. Ignores modules that are already
/// loaded, and modules that report "no such device" (for example, an optimised variant on a
/// processor without the instruction).
void load_modules(const std::filesystem::path& folder) {
  std::ifstream order(folder / "order");
  if (!order) say((folder / "order").string() + ": cannot be read");
  for (std::string name; std::getline(order, name);) {
    const int module = ::open((folder / name).c_str(), O_RDONLY | O_CLOEXEC);
    const bool loaded = module >= 0 && ::syscall(SYS_finit_module, module, "", 0) == 0;
    const int error = errno;
    if (module >= 0) ::close(module);
    if (!loaded && error != EEXIST && error != ENODEV)
      say(name + ": " + std::error_code(error, std::generic_category()).message());
  }
}

void reap_orphans() {
  while (::waitpid(-1, nullptr, WNOHANG) > 0) {
  }
}

}  // namespace

int main() {
  if (::getpid() != 1) {
    say("runs only as process 1 of a headcrash guest");
    return 2;
  }
  make_system_mounts();
  open_console();
  permit_open_files();
  ::signal(SIGPIPE, SIG_IGN);
  // Make malloc keep freed memory. If it returned the memory to the kernel, later allocations would
  // cause page faults, which are slow under emulation.
  ::mallopt(M_TRIM_THRESHOLD, kKeptHeapBytes);
  ::mallopt(M_MMAP_THRESHOLD, kKeptHeapBytes);
  ::setenv("PATH", "/usr/sbin:/usr/bin:/sbin:/bin", 1);
  ::setenv("HOME", "/tmp", 1);
  ::setenv("LC_ALL", "C", 1);
  // Seed the pool, because the machine has no source of entropy that the kernel trusts. A constant
  // seed suffices: random numbers need not be secret, and the request `clock` later brings the
  // trial's seed.
  if (!headcrash::guest::seed_random_pool(std::vector<std::byte>(kBootSeedBytes)))
    say("cannot seed the random pool");
  load_modules("/modules");

  const std::unique_ptr<Channel> channel = Channel::open();
  if (!channel) {
    say("found no virtio-serial port or disk for the agent");
    return 1;
  }
  for (;;) {
    const auto line = channel->read_line();
    if (line)
      headcrash::guest::answer_line(*line,
                                    [&](const nlohmann::json& message) { channel->send(message); });
    reap_orphans();
  }
}
