// mount.headcrash-TYPE mounts one of headcrash's file systems through FUSE. Users, mount(8) (-t
// headcrash-ufs) and adapters call the program. It returns once the file system is mounted, and
// leaves a server process behind. Killing that process simulates a power cut.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "fs-adapters/fuse/server.h"

namespace headcrash::fuse {
namespace {

// Exit codes as documented in mount(8).
constexpr int kMounted = 0, kWrongCall = 1, kNotMounted = 32;
constexpr std::uint64_t kCacheBytesMin = 256 << 10;

// Mount options that are passed to the kernel. "ro" is not supported.
constexpr std::array<std::string_view, 10> kKernelWords{
    "nosuid", "suid", "nodev", "dev", "noexec", "exec", "noatime", "nodiratime", "dirsync", "sync"};
constexpr std::array<std::string_view, 5> kWordsWithoutMeaning{"rw", "relatime", "defaults",
                                                               "async", "auto"};

struct Call {
  std::string device, target, words;
  bool help = false;
};

/// Parses the command line. mount(8) passes the options last and may add -n, -s and -v.
std::optional<Call> read_call(int argc, char** argv) {
  Call call;
  std::vector<std::string> places;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "-h" || word == "--help") {
      call.help = true;
    } else if (word == "-o") {
      if (++i == argc) return std::nullopt;
      call.words += (call.words.empty() ? "" : ",") + std::string(argv[i]);
    } else if (word == "-n" || word == "-s" || word == "-v") {
      continue;
    } else if (word.starts_with("-")) {
      return std::nullopt;
    } else {
      places.push_back(word);
    }
  }
  if (!call.help && places.size() != 2) return std::nullopt;
  if (!call.help) call.device = places[0], call.target = places[1];
  return call;
}

void print_help(const adapters::FileSystemType& known) {
  const std::string type(known.name());
  std::printf(
      "Usage: mount.headcrash-%s [-o WORD,...] DEVICE FOLDER\n"
      "%s"
      "  cache=SIZE       size of the buffer cache (default: 16M)\n"
      "  update=POLICY    sweep, periodic:SECONDS, interval:SECONDS[:first], burst:SECONDS:RATE, "
      "write-through\n"
      "  buffered         uses the page cache, for images on file systems without direct I/O\n"
      "  writeback        the kernel may cache writes until fsync or its own writeback\n"
      "  foreground       stays in the foreground and prints errors on the terminal\n"
      "  noatime, nosuid, nodev, noexec, sync, dirsync: as for mount(8)\n"
      "Example: mount.headcrash-%s -o cache=8M /dev/vda /mnt\n",
      type.c_str(), mount_words(known).c_str(), type.c_str());
}

struct Wish {
  MountPlan plan;
  ServeOptions serve;
  bool foreground = false;
};

Result<Wish> read_wish(const adapters::FileSystemType& type, const Call& call) {
  TRY(auto words, MountOptions::parse(call.words));
  TRY(auto plan, plan_mount(type, words));
  Wish wish{.plan = std::move(plan),
            .serve = {.device = call.device, .type = std::string(type.name())}};
  MachineOptions& machine = wish.plan.machine;
  machine.system.cache.bytes = 16 << 20;
  for (const auto& taken : {words.take_size("cache", machine.system.cache.bytes),
                            words.take_flag("buffered", machine.buffered),
                            words.take_flag("writeback", wish.serve.write_back_cache),
                            words.take_flag("foreground", wish.foreground)}) {
    TRY(taken);
  }
  if (machine.system.cache.bytes < kCacheBytesMin)
    return fail("-o cache", "is too small", "use 256K or more");
  TRY(take_update_policy(words, machine));
  for (const std::string_view word : kKernelWords) {
    bool given = false;
    TRY(words.take_flag(std::string(word), given));
    if (given)
      wish.serve.kernel_words += (wish.serve.kernel_words.empty() ? "" : ",") + std::string(word);
  }
  for (const std::string_view word : kWordsWithoutMeaning) {
    bool ignored = false;
    TRY(words.take_flag(std::string(word), ignored));
  }
  TRY(words.nothing_left());
  std::error_code error;
  wish.serve.target = std::filesystem::canonical(call.target, error).string();
  if (error) return fail(call.target, error.message(), "use an existing folder");
  return wish;
}

int report_error(const Error& error, int code) {
  std::fprintf(stderr, "%s\n", error.message().c_str());
  return code;
}

/// Mounts the file system and serves requests. Calls `mounted` once the mount is complete.
template <typename Mounted>
int mount_and_serve(const Wish& wish, const Mounted& mounted) {
  auto server = Server::mount(wish.plan, wish.serve);
  if (!server) return report_error(server.error(), kNotMounted);
  mounted();
  if (const auto served = (*server)->serve(); !served)
    return report_error(served.error(), kNotMounted);
  return kMounted;
}

/// Detaches the daemon from the terminal. Its messages go to the kernel log if possible.
void leave_terminal() {
  const int nothing = ::open("/dev/null", O_RDWR);
  const int log = ::open("/dev/kmsg", O_WRONLY);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(log >= 0 ? log : nothing, STDOUT_FILENO);
  ::dup2(log >= 0 ? log : nothing, STDERR_FILENO);
  for (const int file : {nothing, log})
    if (file > STDERR_FILENO) ::close(file);
  if (::chdir("/") != 0) std::fprintf(stderr, "headcrash: cannot change to the root folder\n");
}

/// Starts a child process that mounts the file system and serves it. In the parent, returns
/// kMounted once the file system is mounted, or the child's exit code if the child fails.
int mount_in_background(const Wish& wish) {
  std::array<int, 2> ends = {};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return report_error({"pipe", "failed", ""}, kNotMounted);
  const pid_t child = ::fork();
  if (child < 0)
    return report_error({"fork", "failed", "stop some processes, or raise the limit (ulimit -u)"},
                        kNotMounted);
  if (child != 0) {
    ::close(ends[1]);
    char byte = 0;
    ssize_t got = 0;
    while ((got = ::read(ends[0], &byte, 1)) < 0 && errno == EINTR) continue;
    if (got == 1) return kMounted;
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) != 0 ? WEXITSTATUS(status) : kNotMounted;
  }
  ::close(ends[0]);
  ::setsid();
  return mount_and_serve(wish, [&] {
    leave_terminal();
    [[maybe_unused]] const ssize_t told = ::write(ends[1], "m", 1);
    ::close(ends[1]);
  });
}

int run(int argc, char** argv) {
  const auto known = type_of_program(argv[0], kMountPrefix);
  if (!known) return report_error(known.error(), kWrongCall);
  const auto call = read_call(argc, argv);
  if (!call) {
    const std::string program = std::string(kMountPrefix) + std::string((*known)->name());
    return report_error({program, "needs a device and a folder", program + " --help prints help"},
                        kWrongCall);
  }
  if (call->help) {
    print_help(**known);
    return kMounted;
  }
  auto wish = read_wish(**known, *call);
  if (!wish) return report_error(wish.error(), kWrongCall);
  wish->serve.program = argv[0];
  return wish->foreground ? mount_and_serve(*wish, [] {}) : mount_in_background(*wish);
}

}  // namespace
}  // namespace headcrash::fuse

int main(int argc, char** argv) {
  return headcrash::fuse::run(argc, argv);
}
