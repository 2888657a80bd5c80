// Runs a program under strace and parses the trace (host_program.h).
#include "harness/check/host_program.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cinttypes>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>
#include <thread>

#include "plugin/base/command_text.h"
#include "plugin/base/descriptor.h"
#include "plugin/base/errno_text.h"
#include "plugin/base/printable.h"
#include "plugin/base/process.h"
#include "plugin/base/stopwatch.h"
#include "plugin/base/text_file.h"

namespace headcrash::check {
namespace {

namespace fs = std::filesystem;

constexpr int kNotFound = 127, kNotExecutable = 126;  // exit codes of env(1) and sh(1)
constexpr const char* kKeepSize = "FALLOC_FL_KEEP_SIZE";
constexpr int kInterpretersMost = 4;             // limit for scripts whose interpreters are scripts
constexpr std::chrono::milliseconds kLook{100};  // interval of checks while a program runs
constexpr std::uintmax_t kOutputBytesMost = 64 << 20;
constexpr int kKillRounds = 50;
constexpr std::size_t kNamesShown = 3;

/// Processes of one run. strace does not end them when it is killed, and daemons leave the process
/// group, but the environment of every process of the run has the same variable. The destructor
/// kills the processes.
class RunProcesses {
 public:
  explicit RunProcesses(std::string variable) : variable_('\0' + std::move(variable) + '\0') {}
  ~RunProcesses() {
    // A process can fork while it is being killed, so this looks again until none is left.
    for (int round = 0; round < kKillRounds; ++round) {
      const std::vector<pid_t> left = all();
      if (left.empty()) return;
      for (const pid_t pid : left) ::kill(pid, SIGKILL);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  RunProcesses(const RunProcesses&) = delete;
  RunProcesses& operator=(const RunProcesses&) = delete;

  /// Returns the names of the running processes, separated by commas; at most kNamesShown names.
  std::string names() const {
    std::vector<std::string> names;
    for (const pid_t pid : all()) {
      std::ifstream file(fmt::format("/proc/{}/comm", pid));
      std::string name;
      if (std::getline(file, name) && std::ranges::find(names, name) == names.end())
        names.push_back(base::printable(name));
    }
    if (names.size() > kNamesShown) {
      names.resize(kNamesShown);
      names.emplace_back("...");
    }
    return fmt::format("{}", fmt::join(names, ", "));
  }

 private:
  std::vector<pid_t> all() const {
    std::vector<pid_t> pids;
    std::error_code error;
    for (fs::directory_iterator entry("/proc", error); entry != fs::directory_iterator();
         entry.increment(error)) {
      const pid_t pid = std::atoi(entry->path().filename().c_str());
      if (pid <= 0) continue;
      std::ifstream file(entry->path() / "environ", std::ios::binary);
      std::string environment(1, '\0');
      environment.append(std::istreambuf_iterator<char>(file), {});
      if (environment.find(variable_) != std::string::npos) pids.push_back(pid);
    }
    return pids;
  }

  std::string variable_;
};

/// Waits for a traced run. Fails at the time limit, if the run prints too much, and when the user
/// ends headcrash.
Result<int> wait_for(const base::Process& process, const HostCommand& command,
                     const RunProcesses& processes, const std::vector<fs::path>& outputs) {
  const base::Stopwatch watch;
  for (;;) {
    const auto exit = process.wait(kLook);
    if (command.interrupted != nullptr && *command.interrupted)
      return fail(ErrorKind::interrupted, command.name, "was interrupted");
    std::error_code error;
    for (const fs::path& output : outputs)
      if (const auto bytes = fs::file_size(output, error); !error && bytes > kOutputBytesMost)
        return fail(command.name, fmt::format("printed more than {} MB", kOutputBytesMost >> 20),
                    "make it print less to standard output and standard error");
    if (exit) return *exit;
    if (watch.ms() < 1000.0 * static_cast<double>(command.limit.count())) continue;
    const std::string left = processes.names();
    return fail(command.name,
                fmt::format("did not end within {} s on this host{}{}", command.limit.count(),
                            left.empty() ? "" : "; still running: ", left),
                "make the command end its child processes, reduce its work, or increase "
                "--run-limit");
  }
}

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

/// Reads the first bytes of a file.
std::string head_of(const fs::path& program) {
  std::ifstream file(program, std::ios::binary);
  std::string bytes(4096, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  return bytes;
}

/// Returns the dynamic loader of an ELF program with this header; an empty string if it has none.
template <typename Header, typename Segment>
std::string loader_in(std::string_view head) {
  Header header;
  if (head.size() < sizeof header) return {};
  std::memcpy(&header, head.data(), sizeof header);
  for (std::size_t i = 0; i < header.e_phnum; ++i) {
    Segment segment;
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

constexpr std::size_t kMachineAt = offsetof(Elf64_Ehdr, e_machine);

bool is_elf(std::string_view head) {
  return head.size() > EI_NIDENT && head.starts_with(ELFMAG);
}
bool is_32_bit(std::string_view head) {
  return is_elf(head) && head[EI_CLASS] == ELFCLASS32;
}

/// Returns the interpreter of a script, or the dynamic loader of a program. The kernel loads this
/// file itself, so no system call in the trace names it. Returns an empty path if the program has
/// neither.
std::string interpreter_of(const fs::path& program) {
  const std::string bytes = head_of(program);
  const std::string_view head = bytes;
  if (head.starts_with("#!")) {
    const std::size_t begin = head.find_first_not_of(" \t", 2);
    if (begin == std::string_view::npos) return {};
    return std::string(head.substr(begin, head.find_first_of(" \t\n", begin) - begin));
  }
  if (!is_elf(head)) return {};
  return is_32_bit(head) ? loader_in<Elf32_Ehdr, Elf32_Phdr>(head)
                         : loader_in<Elf64_Ehdr, Elf64_Phdr>(head);
}

/// Returns the call in a line of the trace, without the process id.
std::string_view call_of(std::string_view line) {
  return line.substr(std::min(line.size(), line.find_first_not_of("0123456789 ")));
}

/// Parses "fallocate(3</folder/file>, MODE, OFFSET, BYTES) = 0". Returns the file and the end of
/// the reserved range; nullopt for other lines and for modes that release space.
std::optional<std::pair<std::string, std::uint64_t>> reserved_range(std::string_view line) {
  constexpr std::string_view kCall = "fallocate(";
  line = call_of(line);
  if (!line.starts_with(kCall)) return std::nullopt;
  const std::size_t open = line.find('<');
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

tl::unexpected<Error> cannot_be_started(const HostCommand& command, const std::string& why) {
  const fs::path program = command.argv.front();
  std::error_code error;
  if (fs::is_directory(program, error))
    return fail(command.name, "is a folder", "give the path of a program");
  if (!fs::is_regular_file(program, error))
    return fail(command.name, "cannot be started: " + why,
                "correct the name, or install the program");
  if (::access(program.c_str(), X_OK) != 0)
    return fail(command.name, "is not executable", "run chmod +x " + program.string());
  const std::string head = head_of(program), interpreter = interpreter_of(program);
  if (is_elf(head) && head.size() > kMachineAt && head[kMachineAt] != EM_X86_64 &&
      head[kMachineAt] != EM_386)
    return fail(command.name, "is built for another processor architecture", "build it for x86-64");
  if (!interpreter.empty() && !fs::exists(interpreter, error))
    return fail(command.name, "cannot be started: it needs " + interpreter + ", which is missing",
                "install the interpreter, or correct the first line of the program");
  return fail(command.name, "cannot be started: " + why,
              "install the commands that the program uses");
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

std::set<fs::path> executed_paths(std::istream&& trace) {
  std::set<fs::path> paths;
  for (std::string line; std::getline(trace, line);)
    if (call_of(line).starts_with("execve(")) add_paths(line, paths);
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
  const std::string mark = fmt::format("HEADCRASH_FOLDER={}", command.folder.string());
  argv.push_back(mark);
  for (const auto& [name, value] : command.environment)
    argv.push_back(fmt::format("{}={}", name, value));
  argv.insert(argv.end(), command.argv.begin(), command.argv.end());
  TRY(const auto output_file, create(output));
  TRY(const auto errors_file, create(errors));
  const base::Stopwatch watch;
  const RunProcesses processes(mark);  // before `process`, so that strace is killed first
  TRY(const auto process,
      base::Process::start(
          {.argv = std::move(argv), .output = output_file.get(), .errors = errors_file.get()}));
  TRY(const int exit, wait_for(process, command, processes, {output, errors}));
  HostRun run{.seconds = watch.ms() / 1000};
  TRY(run.output, base::read_text_file(output.string()));
  TRY(run.errors, base::read_text_file(errors.string()));
  run.exit_code = exit;
  std::error_code error;
  if (!fs::exists(trace, error) || fs::file_size(trace, error) == 0)
    return fail(ErrorKind::cannot_run, "strace",
                "cannot trace the program: " + base::last_line(run.errors),
                "install strace; in a container, also allow ptrace");
  if (run.exit_code == kNotFound || run.exit_code == kNotExecutable)
    return cannot_be_started(command, base::last_line(run.errors));
  for (const fs::path& path : traced_paths(std::ifstream(trace, std::ios::binary))) {
    const std::array<fs::path, 5> own{"/proc", "/sys", "/dev", command.folder, scratch};
    if (std::ranges::any_of(own, [&](const fs::path& folder) { return is_below(path, folder); }))
      continue;
    if (fs::exists(fs::symlink_status(path, error))) run.paths.insert(path);
  }
  add_interpreters(run.paths);
  for (const fs::path& path : executed_paths(std::ifstream(trace, std::ios::binary)))
    if (is_32_bit(head_of(path))) run.program_of_32_bits = path;
  run.preallocated = preallocated_bytes(std::ifstream(trace, std::ios::binary));
  return run;
}

}  // namespace headcrash::check
