// Starts user-mode Linux (user_mode.h).
//
// `stderr=1 console=stderr`: the console is the program's standard error, written when it is said. panic=-1 would start the
// kernel again, as the same process: a panic ends it instead. `seccomp=auto`: a kernel that can (6.16 and newer) traps its programs'
// system calls with seccomp in place of ptrace, which takes a fifth less time; an older one ignores it.
#include "harness/vm/user_mode.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>

#include "plugin/base/errno_text.h"

namespace headcrash::vm {
namespace {

constexpr std::chrono::seconds kUserModeBootLimit{60};
constexpr int kBlockDevice = 2;                  // of virtio
constexpr const char* kInitramfs = "initramfs";  // a link in the scratch folder

/// Linux stirs its command line into its random numbers: paths that differ from run to run must not be in it.
std::string seen_from(const std::filesystem::path& folder, const std::filesystem::path& file) {
  return file.is_absolute() ? file.lexically_relative(folder).string() : file.string();
}

Result<base::Descriptor> writable(const std::filesystem::path& file) {
  base::Descriptor opened(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644));
  if (!opened.is_open()) return fail(file.string(), base::errno_text(errno));
  return opened;
}

}  // namespace

std::vector<std::string> user_mode_command(const GuestSpec& spec, const std::filesystem::path& scratch) {
  std::vector<std::string> words{"env",
                                 "--chdir=" + scratch.string(),
                                 "GLIBC_TUNABLES=glibc.pthread.rseq=0",
                                 "setarch",
                                 "-R",
                                 spec.image.kernel.string(),
                                 fmt::format("mem={}M", spec.memory_mib),
                                 std::string("initrd=") + kInitramfs,
                                 "uml_dir=./",
                                 "time-travel=ext:" + seen_from(scratch, spec.time_socket),
                                 "seccomp=auto",
                                 "stderr=1",
                                 "console=stderr",
                                 "con=null",
                                 "con0=null,null",
                                 "loglevel=5",
                                 "rcupdate.rcu_expedited=1"};
  if (spec.late_kicks) words.emplace_back("virtio_uml.late_kicks=1");
  for (const GuestDisk& disk : spec.disks)
    words.push_back(fmt::format("virtio_uml.device={}:{}", seen_from(scratch, disk.socket), kBlockDevice));
  words.push_back(fmt::format("virtio_uml.device={}:{}", seen_from(scratch, spec.port_socket), kBlockDevice));
  return words;
}

Result<std::unique_ptr<GuestProcess>> launch_user_mode(const GuestSpec& spec,
                                                       const std::filesystem::path& scratch) {
  const auto console = writable(console_in(scratch));
  if (!console) return pass_on(console);
  std::error_code error;
  std::filesystem::remove(scratch / kInitramfs, error);  // of an earlier guest
  std::filesystem::create_symlink(spec.image.initramfs, scratch / kInitramfs, error);
  if (error) return fail((scratch / kInitramfs).string(), error.message());
  const auto log = writable(log_in(scratch));
  if (!log) return pass_on(log);
  auto agent = base::JsonSocket::connect(spec.agent_socket);
  if (!agent) return pass_on(agent);
  auto process = base::Process::start(
      {.argv = user_mode_command(spec, scratch), .output = log->get(), .errors = console->get()});
  if (!process) return pass_on(process);
  auto guest =
      std::make_unique<GuestProcess>("user-mode Linux", std::move(*process), std::move(*agent), scratch);
  if (!guest->says_hello(kUserModeBootLimit)) return guest->failed("the guest did not boot");
  return guest;
}

}  // namespace headcrash::vm
