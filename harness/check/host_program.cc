// Runs a program under strace and parses the trace (host_program.h).
#include "harness/check/host_program.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>

#include "plugin/base/command_text.h"
#include "plugin/base/descriptor.h"
#include "plugin/base/errno_text.h"
#include "plugin/base/process.h"
#include "plugin/base/stopwatch.h"
#include "plugin/base/text_file.h"

namespace headcrash::check {
namespace {

namespace fs = std::filesystem;

constexpr int kNotFound = 127, kNotExecutable = 126;  // exit codes of env(1) and sh(1)
constexpr const char* kKeepSize = "FALLOC_FL_KEEP_SIZE";
constexpr int kInterpretersMost = 4;  // limit for scripts whose interpreters are scripts

Result<base::Descriptor> create(const fs::path& path) {
  base::Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!file.is_open()) return fail(path.string(), base::errno_text(errno));
  return file;
}

bool is_below(const fs::path& path, const fs::path& folder) {
  const auto [end, rest] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return end == folder.end();
}

/// Parses a string literal printed by strace. `at` is the position after the opening quote; on
/// return it is after the closing quote.
std::string unescape(std::string_view text, std::size_t& at) {
  constexpr std::string_view kLetters = "ntrvf", kValues = "\n\t\r\v\f";
  std::string value;
  for (; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] != '\\' || at + 1 == text.size()) {
      value += text[at];
      continue;
    }
    const char c = text[++at];
    if (c >= '0' && c <= '7') {
      unsigned octal = 0;
      std::size_t digits = 0;
      for (; digits < 3 && at + digits < text.size(); ++digits) {
        const char digit = text[at + digits];
        if (digit < '0' || digit > '7') break;
        octal = octal * 8 + static_cast<unsigned>(digit - '0');
      }
      at += digits - 1;
      value += static_cast<char>(octal);
    } else if (const std::size_t letter = kLetters.find(c); letter != std::string_view::npos) {
      value += kValues[letter];
    } else {
      value += c;
    }
  }
  ++at;
  return value;
}

/// strace prints an annotation "<PATH>" after a descriptor. Returns the PATH of the annotation at
/// position `at`, or an empty view if that position has no annotation.
std::string_view annotated(std::string_view line, std::size_t at) {
  if (at >= line.size() || line[at] != '<' || at + 1 >= line.size() || line[at + 1] != '/')
    return {};
  const std::size_t end = line.find('>', at);
  return end == std::string_view::npos ? std::string_view() : line.substr(at + 1, end - at - 1);
}

void add_paths(std::string_view line, std::set<fs::path>& paths) {
  const std::size_t arguments = line.find('(');
  if (arguments == std::string_view::npos) return;
  const std::size_t quote = line.find('"', arguments);
  if (quote != std::string_view::npos) {
    std::size_t at = quote + 1;
    const fs::path named = unescape(line, at);
    if (named.is_absolute()) {
      paths.insert(named.lexically_normal());
    } else if (!named.empty()) {
      const std::size_t open = line.find('<', arguments);
      const std::string_view folder = open < quote ? annotated(line, open) : std::string_view();
      if (!folder.empty()) paths.insert((fs::path(folder) / named).lexically_normal());
    }
  }
  // In the result of the call, strace prints the path of the new descriptor. The kernel has
  // resolved all symbolic links in this path.
  const std::size_t result = line.rfind(" = ");
  if (result == std::string_view::npos) return;
  const std::size_t open = line.find('<', result);
  if (open == std::string_view::npos) return;
  if (const std::string_view path = annotated(line, open); !path.empty()) paths.insert(path);
}

/// Returns the interpreter of a script, or the dynamic loader of a program. The kernel loads this
/// file itself, so no system call in the trace names it. Returns an empty path if the program has
/// neither.
std::string interpreter_of(const fs::path& program) {
  std::ifstream file(program, std::ios::binary);
  std::array<char, 4096> bytes{};
  file.read(bytes.data(), bytes.size());
  const std::string_view head(bytes.data(), static_cast<std::size_t>(file.gcount()));
  if (head.starts_with("#!")) {
    const std::size_t begin = head.find_first_not_of(" \t", 2);
    if (begin == std::string_view::npos) return {};
    return std::string(head.substr(begin, head.find_first_of(" \t\n", begin) - begin));
  }
  Elf64_Ehdr header;
  if (head.size() < sizeof header || !head.starts_with(ELFMAG)) return {};
  std::memcpy(&header, head.data(), sizeof header);
  for (std::size_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    const std::size_t at = header.e_phoff + i * sizeof segment;
    if (at > head.size() - sizeof segment) return {};
    std::memcpy(&segment, head.data() + at, sizeof segment);
    if (segment.p_type != PT_INTERP) continue;
    if (segment.p_offset > head.size() || segment.p_filesz > head.size() - segment.p_offset)
      return {};
    std::string name(head.substr(segment.p_offset, segment.p_filesz));
    name.resize(std::min(name.size(), name.find('\0')));
    return name;
  }
  return {};
}

/// Parses "fallocate(3</folder/file>, MODE, OFFSET, BYTES) = 0". Returns the file and the offset
/// at which the reserved range ends. Returns nullopt for other lines, and for modes that release
/// space.
std::optional<std::pair<std::string, std::uint64_t>> reserved_range(std::string_view line) {
  constexpr std::string_view kCall = "fallocate(";
  const std::size_t call = line.find_first_not_of("0123456789 ");  // skips the process ID
  if (call == std::string_view::npos || !line.substr(call).starts_with(kCall)) return std::nullopt;
  const std::size_t open = line.find('<', call);
  if (open == std::string_view::npos) return std::nullopt;
  const std::string file(annotated(line, open));
  const std::size_t arguments = line.find(">, ", open);
  if (file.empty() || arguments == std::string_view::npos) return std::nullopt;
  const std::string rest(line.substr(arguments + 3));
  std::array<char, 64> mode{};
  std::uint64_t offset = 0, bytes = 0;
  if (std::sscanf(rest.c_str(), "%63[^,], %" SCNu64 ", %" SCNu64, mode.data(), &offset, &bytes) !=
      3)
    return std::nullopt;
  if (mode.data() != std::string_view("0") && mode.data() != std::string_view(kKeepSize))
    return std::nullopt;
  return std::pair(file, offset + bytes);
}

void add_interpreters(std::set<fs::path>& paths) {
  std::vector<fs::path> programs(paths.begin(), paths.end());
  for (int depth = 0; depth < kInterpretersMost && !programs.empty(); ++depth) {
    std::vector<fs::path> more;
    for (const fs::path& program : programs) {
      std::error_code error;
      if (!fs::is_regular_file(program, error)) continue;
      const fs::path interpreter = interpreter_of(program);
      if (interpreter.is_absolute() && paths.insert(interpreter).second)
        more.push_back(interpreter);
    }
    programs = std::move(more);
  }
}

}  // namespace

std::set<fs::path> traced_paths(std::istream&& trace) {
  std::set<fs::path> paths;
  for (std::string line; std::getline(trace, line);) add_paths(line, paths);
  return paths;
}

std::uint64_t preallocated_bytes(std::istream&& trace) {
  std::map<std::string, std::uint64_t> ends;
  for (std::string line; std::getline(trace, line);) {
    if (const auto range = reserved_range(line)) {
      std::uint64_t& end = ends[range->first];
      end = std::max(end, range->second);
    }
  }
  std::uint64_t bytes = 0;
  for (const auto& [file, end] : ends) bytes += end;
  return bytes;
}

Result<HostRun> run_on_host(const HostCommand& command, const fs::path& scratch) {
  const fs::path input = scratch / "input", trace = scratch / "trace";
  const fs::path output = scratch / "output", errors = scratch / "errors";
  TRY(base::write_text_file(input.string(), command.input));
  std::vector<std::string> argv{"sh",
                                "-c",
                                "cd \"$1\" && exec < \"$2\" && shift 2 && exec \"$@\"",
                                "sh",
                                command.folder.string(),
                                input.string(),
                                "strace",
                                "-f",
                                "-qq",
                                "-y",
                                "-z",
                                "-s",
                                "4096",
                                "-e",
                                "trace=%file,fallocate",
                                "-e",
                                "signal=none",
                                "-o",
                                trace.string(),
                                "--",
                                "env",
                                "-i"};
  for (const auto& [name, value] : command.environment)
    argv.push_back(fmt::format("{}={}", name, value));
  argv.insert(argv.end(), command.argv.begin(), command.argv.end());
  TRY(const auto output_file, create(output));
  TRY(const auto errors_file, create(errors));
  const base::Stopwatch watch;
  TRY(auto process,
      base::Process::start(
          {.argv = std::move(argv), .output = output_file.get(), .errors = errors_file.get()}));
  const auto exit = process.wait(command.limit);
  HostRun run{.seconds = watch.ms() / 1000};
  TRY(run.output, base::read_text_file(output.string()));
  TRY(run.errors, base::read_text_file(errors.string()));
  const std::string& program = command.argv.front();
  if (!exit)
    return fail(program, fmt::format("did not end within {} s on this host", command.limit.count()),
                "reduce its work, or increase --run-limit");
  run.exit_code = *exit;
  std::error_code error;
  if (!fs::exists(trace, error) || fs::file_size(trace, error) == 0)
    return fail(ErrorKind::cannot_run, "strace",
                "cannot trace a program: " + base::last_line(run.errors),
                "install strace, and allow ptrace in a container");
  if (run.exit_code == kNotFound || run.exit_code == kNotExecutable)
    return fail(program, "cannot be started: " + base::last_line(run.errors));
  for (const fs::path& path : traced_paths(std::ifstream(trace, std::ios::binary))) {
    const std::array<fs::path, 5> own{"/proc", "/sys", "/dev", command.folder, scratch};
    if (std::ranges::any_of(own, [&](const fs::path& folder) { return is_below(path, folder); }))
      continue;
    if (fs::exists(fs::symlink_status(path, error))) run.paths.insert(path);
  }
  add_interpreters(run.paths);
  run.preallocated = preallocated_bytes(std::ifstream(trace, std::ios::binary));
  return run;
}

}  // namespace headcrash::check
