// Runs the check programs on an anonymous file in memory (host_check.h).
//
// The child opens the copy (sparse_file.h) as /proc/self/fd/3, because the child may lack
// permission to enter the directories of a path. It opens the copy of the log's disk as
// /proc/self/fd/4.
#include "harness/explorer/guests/host_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "harness/explorer/guests/sparse_file.h"
#include "plugin/base/process.h"
#include "plugin/base/stopwatch.h"

namespace headcrash::explorer {
namespace {

using model::kSectorBytes;

constexpr std::size_t kOutputBytes = 64 << 10;  // maximum size of the output that is kept
constexpr std::uint64_t kMemoryBytes = 1ULL << 30;
constexpr const char* kCopyPath = "/proc/self/fd/3";  // base::kFirstInherited
constexpr const char* kLogPath = "/proc/self/fd/4";
constexpr int kKilled = 128;

std::string reason() {
  return std::error_code(errno, std::generic_category()).message();
}

struct ProgramEnd {
  int exit_code = 0;
  std::string output;
};

std::string tail_of(int file) {
  struct stat status{};
  if (::fstat(file, &status) != 0) return {};
  const auto size = static_cast<std::size_t>(status.st_size);
  std::string text(std::min(size, kOutputBytes), '\0');
  const ssize_t got =
      ::pread(file, text.data(), text.size(), static_cast<off_t>(size - text.size()));
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return text;
}

Result<ProgramEnd> run_confined(const std::vector<std::string>& argv, const base::Descriptor& copy,
                                const base::Descriptor* log, std::chrono::milliseconds limit) {
  const base::Descriptor output(::memfd_create("output", MFD_CLOEXEC));
  if (!output.is_open())
    return fail(argv.at(0), "cannot create a file for the program's output: " + reason());
  struct stat status{};
  if (::fstat(copy.get(), &status) != 0)
    return fail(argv.at(0), "the image cannot be examined: " + reason());
  std::vector<int> inherit{copy.get()};
  if (log != nullptr) inherit.push_back(log->get());
  TRY(const auto started,
      base::Process::start({.argv = argv,
                            .output = output.get(),
                            .errors = output.get(),
                            .inherit = inherit,
                            .confinement = base::Confinement{
                                .cpu = std::chrono::ceil<std::chrono::seconds>(limit),
                                .memory_bytes = kMemoryBytes,
                                .file_bytes = static_cast<std::uint64_t>(status.st_size)}}));
  const auto exit_code = started.wait(limit);
  if (!exit_code)
    return fail(argv.at(0), fmt::format("did not end within {} ms on the host", limit.count()));
  if (*exit_code >= kKilled)
    return fail(argv.at(0), fmt::format("was killed on the host ({})", *exit_code));
  return ProgramEnd{*exit_code, tail_of(output.get())};
}

/// Returns true if an unprivileged user may run the program. headcrash's own programs may be in a
/// directory that only root can access.
bool everybody_may_run(const std::filesystem::path& program) {
  namespace fs = std::filesystem;
  // If headcrash is not root, programs run as the current user.
  if (::geteuid() != 0) return ::access(program.c_str(), X_OK) == 0;
  std::error_code error;
  for (fs::path part = program; part != part.root_path(); part = part.parent_path())
    if ((fs::status(part, error).permissions() & fs::perms::others_exec) == fs::perms::none ||
        error)
      return false;
  return true;
}

/// Returns the path of a program, or an empty string if it is not installed on the host.
std::string host_path(const std::string& program) {
  if (const std::string own = adapters::beside_headcrash(program); everybody_may_run(own))
    return own;
  for (const char* folder :
       {"/usr/local/sbin/", "/usr/local/bin/", "/usr/sbin/", "/usr/bin/", "/sbin/", "/bin/"})
    if (::access((folder + program).c_str(), X_OK) == 0) return folder + program;
  return {};
}

bool can_run(const adapters::GuestCommand& command, bool has_log) {
  if (!command.host || command.argv.empty() || host_path(command.argv.front()).empty())
    return false;
  return std::none_of(command.argv.begin(), command.argv.end(), [&](const std::string& word) {
    return word.find('{') != std::string::npos && word != "{device}" &&
           !(has_log && word == "{log}");
  });
}

}  // namespace

bool host_can_check(const adapters::LinuxAdapter& filesystem) {
  const bool has_log = filesystem.log_size_bytes != 0;
  if (has_log && filesystem.replay_by_mount) return false;
  return can_run(filesystem.check, has_log) &&
         (filesystem.replay_by_mount || filesystem.replay.argv.empty() ||
          can_run(filesystem.replay, has_log));
}

Result<base::Descriptor> private_copy(const states::StateImage& image, Unwritten unwritten) {
  auto file = make_sparse_file(image.sectors() * kSectorBytes);
  if (!file) return file;
  TRY(visit_pieces(
      image,
      [&](std::uint64_t offset, std::span<const std::byte> bytes) {
        return write_sparse(*file, offset, bytes);
      },
      unwritten));
  return file;
}

Result<HostCheck> host_check(const adapters::LinuxAdapter& filesystem, const base::Descriptor& copy,
                             std::chrono::milliseconds limit, const base::Descriptor* log) {
  HostCheck found;
  const auto run = [&](const std::vector<std::string>& words, double& ms) -> Result<ProgramEnd> {
    const base::Stopwatch watch;
    auto argv =
        adapters::fill_in(words, {.device = kCopyPath, .log = kLogPath, .uuid = {}, .target = {}});
    if (const std::string path = host_path(argv.at(0)); !path.empty()) argv.at(0) = path;
    Result<ProgramEnd> end = run_confined(argv, copy, log, limit);
    ms = watch.ms();
    if (end)
      found.log +=
          fmt::format("host$ {}\n{}exit {}\n", fmt::join(argv, " "), end->output, end->exit_code);
    return end;
  };
  if (!filesystem.replay_by_mount && !filesystem.replay.argv.empty()) {
    TRY(const auto replayed, run(filesystem.replay.argv, found.replay_ms));
    found.replayed = filesystem.shows_replay(replayed.output);
    found.found_damage = filesystem.shows_damage(replayed.output);
  }
  TRY(const auto checked, run(filesystem.check.argv, found.check_ms));
  found.found_damage = found.found_damage || !filesystem.check.good(checked.exit_code);
  return found;
}

}  // namespace headcrash::explorer
