// Reads a stopped thread through ptrace(2) and /proc (tracee.h). Gets the system call from the
// registers, because user-mode Linux has no PTRACE_GET_SYSCALL_INFO.
#include "harness/audit/tracer/tracee.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/ptrace.h>
#include <sys/user.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace headcrash::audit {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::size_t, 6> kArgumentRegisters{
    offsetof(user_regs_struct, rdi), offsetof(user_regs_struct, rsi),
    offsetof(user_regs_struct, rdx), offsetof(user_regs_struct, r10),
    offsetof(user_regs_struct, r8),  offsetof(user_regs_struct, r9)};

std::optional<user_regs_struct> registers(pid_t thread) {
  user_regs_struct values{};
  if (::ptrace(PTRACE_GETREGS, thread, nullptr, &values) != 0) return std::nullopt;
  return values;
}

/// Returns a word of the thread's memory; nullopt at an invalid address.
std::optional<std::uint64_t> word_at(pid_t thread, std::uint64_t address) {
  errno = 0;
  const long word = ::ptrace(PTRACE_PEEKDATA, thread, address, nullptr);
  if (errno != 0) return std::nullopt;
  return static_cast<std::uint64_t>(word);
}

std::string text_at(pid_t thread, std::uint64_t address) {
  std::string text;
  while (text.size() < PATH_MAX) {
    const std::uint64_t aligned = address & ~std::uint64_t{7};
    const auto word = word_at(thread, aligned);
    if (!word) return text;
    std::array<char, 8> bytes{};
    std::memcpy(bytes.data(), &*word, bytes.size());
    for (std::size_t i = address - aligned; i < bytes.size(); ++i, ++address) {
      if (bytes.at(i) == '\0') return text;
      text += bytes.at(i);
    }
  }
  return text;
}

std::string link_of(const std::string& path) {
  std::error_code error;
  return fs::read_symlink(path, error).string();
}

}  // namespace

std::optional<SystemCall> call_at_entry(pid_t thread) {
  const auto values = registers(thread);
  if (!values) return std::nullopt;
  return SystemCall{
      .number = values->orig_rax,
      .arguments = {values->rdi, values->rsi, values->rdx, values->r10, values->r8, values->r9}};
}

std::int64_t result_at_exit(pid_t thread) {
  const auto values = registers(thread);
  return values ? static_cast<std::int64_t>(values->rax) : -1;
}

void set_call(pid_t thread, std::uint64_t number) {
  ::ptrace(PTRACE_POKEUSER, thread, offsetof(user_regs_struct, orig_rax), number);
}

void set_argument(pid_t thread, std::size_t index, std::uint64_t value) {
  ::ptrace(PTRACE_POKEUSER, thread, kArgumentRegisters.at(index), value);
}

std::uint64_t open_how_flags(pid_t thread, std::uint64_t address) {
  return word_at(thread, address + offsetof(open_how, flags)).value_or(0);
}

std::string link_of_descriptor(pid_t thread, std::int64_t descriptor) {
  return link_of(fmt::format("/proc/{}/fd/{}", thread, static_cast<int>(descriptor)));
}

std::string path_of_descriptor(pid_t thread, std::int64_t descriptor) {
  std::string path = link_of_descriptor(thread, descriptor);
  if (!path.starts_with('/') || path.ends_with(" (deleted)")) return {};
  return path;
}

std::string path_of_name(pid_t thread, std::int64_t folder, std::uint64_t address) {
  const fs::path name = text_at(thread, address);
  if (name.empty()) return {};
  const auto descriptor = static_cast<int>(folder);
  const std::string base = descriptor == AT_FDCWD ? link_of(fmt::format("/proc/{}/cwd", thread))
                                                  : path_of_descriptor(thread, descriptor);
  const fs::path path = (fs::path(base) / name).lexically_normal();
  std::error_code error;
  const fs::path last = path.has_filename() ? path.filename() : path.parent_path().filename();
  const fs::path parent =
      path.has_filename() ? path.parent_path() : path.parent_path().parent_path();
  return (fs::weakly_canonical(parent, error) / last).string();
}

std::string path_of_mapping(pid_t thread, std::uint64_t address) {
  std::ifstream file(fmt::format("/proc/{}/maps", thread));
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::uint64_t begin = 0, end = 0;
    char dash = 0;
    std::string access, offset, device, inode, path;
    words >> std::hex >> begin >> dash >> end >> access >> offset >> device >> inode >> std::ws;
    std::getline(words, path);
    if (address >= begin && address < end) return path;
  }
  return {};
}

}  // namespace headcrash::audit
