// Starts user-mode Linux (user_mode.h).
//
// `stderr=1 console=stderr` writes console output to the program's standard error at once. A panic
// ends the process; panic=-1 is not used, because it would restart the kernel in the same process.
// With `seccomp=auto`, a kernel of version 6.16 or newer traps the system calls of its programs
// with seccomp instead of ptrace. This saves a fifth of the time. Older kernels ignore the option.
#include "harness/vm/user_mode.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>

#include "plugin/base/errno_text.h"

namespace headcrash::vm {
namespace {

constexpr std::chrono::seconds kUserModeBootLimit{60};
constexpr int kBlockDevice = 2;                  // device ID of virtio-blk
constexpr const char* kInitramfs = "initramfs";  // name of a symbolic link in the scratch directory

/// Environment variables that hide the features of the host's processor from the guest's programs,
/// which run directly on this processor. Otherwise, these features would determine which library
/// directories glibc searches and how much stack a call needs. The guest would then use other pages
/// and names, and draw random numbers at other times, on another host. With these settings, glibc
/// assumes a processor with SSE2 and a cache of 1 MiB. The kernel passes unknown words of its
/// command line to init as environment variables. The glibc manual explains the names ("Hardware
/// Capability Tunables"). In version 2.36, `ld.so --list-diagnostics` shows the effect.
constexpr const char* kAnyProcessor =
    "GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX,-AVX2,-AVX512F,-AVX512VL,-AVX512BW,-AVX512CD,-AVX512DQ,-BMI1,-BMI2,"
    "-ERMS,-FMA,-FMA4,-FSRM,-LZCNT,-MOVBE,-POPCNT,-RTM,-SSE3,-SSSE3,-SSE4_1,-SSE4_2,-XSAVE,-XSAVEC,"
    "-AVX_Fast_Unaligned_Load,-Fast_Unaligned_Load,-Fast_Unaligned_Copy,-Fast_Copy_Backward,-Fast_Rep_String,"
    "-Slow_BSF,-Prefer_PMINUB_for_stringop,-Prefer_ERMS,-Prefer_FSRM"
    ":glibc.cpu.x86_data_cache_size=32768:glibc.cpu.x86_shared_cache_size=1048576"
    ":glibc.cpu.x86_non_temporal_threshold=786432";

/// Returns the path of `file` relative to `folder`. Linux mixes its command line into its random
/// numbers, so the command line must not contain paths that differ from run to run.
std::string seen_from(const std::filesystem::path& folder, const std::filesystem::path& file) {
  return file.is_absolute() ? file.lexically_relative(folder).string() : file.string();
}

Result<base::Descriptor> writable(const std::filesystem::path& file) {
  base::Descriptor opened(
      ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644));
  if (!opened.is_open()) return fail(file.string(), base::errno_text(errno));
  return opened;
}

}  // namespace

std::vector<std::string> user_mode_command(const GuestSpec& spec,
                                           const std::filesystem::path& scratch) {
  std::vector<std::string> words{"env",
                                 "--chdir=" + scratch.string(),
                                 "GLIBC_TUNABLES=glibc.pthread.rseq=0",
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
                                 "rcupdate.rcu_expedited=1",
                                 kAnyProcessor};
  if (spec.late_kicks) words.emplace_back("virtio_uml.late_kicks=1");
  for (const GuestDisk& disk : spec.disks)
    words.push_back(
        fmt::format("virtio_uml.device={}:{}", seen_from(scratch, disk.socket), kBlockDevice));
  words.push_back(
      fmt::format("virtio_uml.device={}:{}", seen_from(scratch, spec.port_socket), kBlockDevice));
  return words;
}

Result<std::unique_ptr<GuestProcess>> launch_user_mode(const GuestSpec& spec,
                                                       const std::filesystem::path& scratch) {
  TRY(const auto console, writable(console_in(scratch)));
  std::error_code error;
  std::filesystem::remove(scratch / kInitramfs, error);  // left by a previous guest
  std::filesystem::create_symlink(spec.image.initramfs, scratch / kInitramfs, error);
  if (error) return fail((scratch / kInitramfs).string(), error.message());
  TRY(const auto log, writable(log_in(scratch)));
  TRY(auto agent, base::JsonSocket::connect(spec.agent_socket));
  TRY(auto process, base::Process::start({.argv = user_mode_command(spec, scratch),
                                          .output = log.get(),
                                          .errors = console.get()}));
  auto guest = std::make_unique<GuestProcess>("user-mode Linux", std::move(process),
                                              std::move(agent), scratch);
  if (!guest->says_hello(kUserModeBootLimit)) return guest->failed("the guest did not boot");
  return guest;
}

}  // namespace headcrash::vm
