// Handles the stops of traced threads (tracer.h).
#include "harness/audit/tracer/tracer.h"

#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <unordered_map>

#include "harness/audit/tracer/calls.h"
#include "harness/audit/tracer/tracee.h"
#include "plugin/base/descriptor.h"

namespace headcrash::audit {
namespace {

namespace fs = std::filesystem;

constexpr long kOptions = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
                          PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC;
constexpr int kCallStop = SIGTRAP | 0x80;
constexpr int kNotFound = 127;

std::int64_t now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

/// A change to be recorded if the call succeeds.
struct PendingChange {
  ChangeCall call;
  std::string path, to;
};

struct Thread {
  bool in_call = false;
  FlushCounts* timed = nullptr;  ///< the flush call that is in progress
  std::int64_t begun_ns = 0;
  std::optional<FlushCall> flush;
  std::string flushed_path;
  std::optional<PendingChange> change;
};

void flush_path(const std::string& path) {
  const base::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.is_open()) ::fsync(file.get());
}

class Tracer {
 public:
  explicit Tracer(const TracerOptions& options) : options_(options) {}
  std::optional<Trace> run();

 private:
  bool start();
  void on_stop(pid_t thread, int status);
  void on_entry(pid_t thread, Thread& state);
  void on_exit(pid_t thread, Thread& state);
  void begin_flush(pid_t thread, Thread& state, const SystemCall& call, const FlushCall& flush);
  void begin_change(pid_t thread, Thread& state, const SystemCall& call, std::uint64_t open_flags);
  void end_change(pid_t thread, const PendingChange& change);
  void change_object(pid_t thread, const PendingChange& change, const std::string& path);
  std::string path_of(pid_t thread, const SystemCall& call, const FlushCall& flush) const;
  bool is_skipped(const FlushSite& site) const;
  bool watches_changes() const { return options_.list_changes || !options_.flush.empty(); }
  bool is_inside(const std::string& path) const {
    return path == folder_ || path.starts_with(folder_ + "/");
  }
  std::string name_in_folder(const std::string& path) const {
    return is_inside(path) ? fs::path(path).lexically_relative(folder_).string() : path;
  }

  const TracerOptions& options_;
  const std::string folder_ = fs::current_path().string();
  const std::string output_ = link_of_descriptor(::getpid(), STDOUT_FILENO);
  StackReader stacks_;
  std::unordered_map<pid_t, Thread> threads_;
  Unflushed unflushed_;
  Trace trace_;
  pid_t main_ = -1;
  std::uint64_t calls_ = 0;
};

/// Starts the program in a child process, which waits until the tracer is attached.
bool Tracer::start() {
  int gate[2];
  if (::pipe2(gate, O_CLOEXEC) != 0) return false;
  base::Descriptor wait(gate[0]), open(gate[1]);
  std::vector<char*> argv;
  for (const std::string& word : options_.argv) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  main_ = ::fork();
  if (main_ < 0) return false;
  if (main_ == 0) {
    open.reset();
    char byte = 0;
    if (::read(wait.get(), &byte, 1) != 1) ::_exit(kNotFound);
    ::execvp(argv[0], argv.data());
    ::_exit(kNotFound);
  }
  int status = 0;
  if (::ptrace(PTRACE_SEIZE, main_, nullptr, kOptions) != 0 ||
      ::ptrace(PTRACE_INTERRUPT, main_, nullptr, nullptr) != 0 ||
      ::waitpid(main_, &status, __WALL) != main_) {
    open.reset();  // the child reads end-of-file from the pipe and exits
    ::waitpid(main_, &status, 0);
    return false;
  }
  // The child may be stopped inside read(2). Let it leave this call now, because the exit from
  // read(2) would otherwise be taken for the entry to a call.
  ::ptrace(PTRACE_SYSCALL, main_, nullptr, nullptr);
  return ::write(open.get(), "", 1) == 1;
}

std::optional<Trace> Tracer::run() {
  const std::int64_t begun = now_ns();
  if (!start()) return std::nullopt;
  for (;;) {
    int status = 0;
    const pid_t thread = ::waitpid(-1, &status, __WALL);
    if (thread < 0) break;
    if (WIFSTOPPED(status)) {
      on_stop(thread, status);
      continue;
    }
    threads_.erase(thread);
    if (thread != main_) continue;
    trace_.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    break;
  }
  trace_.ns = now_ns() - begun;
  trace_.unflushed = unflushed_.at_lines();
  for (auto& [site, change] : trace_.unflushed) change.target = name_in_folder(change.target);
  trace_.stacks = stacks_.stacks();
  return std::move(trace_);
}

void Tracer::on_stop(pid_t thread, int status) {
  const int signal = WSTOPSIG(status);
  const int event = status >> 16;
  int delivered = 0;
  if (signal == kCallStop) {
    Thread& state = threads_[thread];
    state.in_call = !state.in_call;
    if (state.in_call)
      on_entry(thread, state);
    else
      on_exit(thread, state);
  } else if (event == PTRACE_EVENT_EXEC) {
    threads_[thread] = {.in_call = true};  // the next stop is at the exit from execve(2)
  } else if (event == PTRACE_EVENT_STOP) {
    if (signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU) {
      ::ptrace(PTRACE_LISTEN, thread, nullptr, nullptr);  // leave the thread stopped by job control
      return;
    }
  } else if (event == 0) {
    delivered = signal;
  }
  ::ptrace(PTRACE_SYSCALL, thread, nullptr, delivered);
}

std::string Tracer::path_of(pid_t thread, const SystemCall& call, const FlushCall& flush) const {
  const auto argument = [&](std::size_t i) { return call.arguments.at(i); };
  switch (flush.object) {
    case FlushCall::Object::descriptor:
      return path_of_descriptor(thread, static_cast<std::int64_t>(argument(flush.argument)));
    case FlushCall::Object::path:
      return path_of_name(thread,
                          flush.folder == ChangeCall::kNone
                              ? AT_FDCWD
                              : static_cast<std::int64_t>(argument(flush.folder)),
                          argument(flush.argument));
    case FlushCall::Object::mapping:
      return path_of_mapping(thread, argument(flush.argument));
    case FlushCall::Object::everything:
    case FlushCall::Object::unknown:
      break;
  }
  return {};
}

bool Tracer::is_skipped(const FlushSite& site) const {
  return options_.skip.contains(site.stack + ":" + site.target) ||
         options_.skip.contains(site.stack + ":" + kAnyTarget);
}

void Tracer::begin_flush(pid_t thread, Thread& state, const SystemCall& call,
                         const FlushCall& flush) {
  std::string path = path_of(thread, call, flush);
  const FlushSite site{.kind = std::string(flush.kind),
                       .stack = stacks_.key_of(thread, flush.kind),
                       .target = target_of(path, folder_)};
  FlushCounts& counts = trace_.flushes[site];
  if (counts.calls++ == 0) {
    counts.example = name_in_folder(path);
    counts.first = calls_;
  }
  ++calls_;
  counts.can_skip = flush.can_skip;
  if (flush.can_skip && is_skipped(site)) {
    ++counts.skipped;
    if (flush.flags == 0)
      set_call(thread, call_without_effect());
    else
      set_argument(thread, flush.flags_argument,
                   call.arguments.at(flush.flags_argument) & ~flush.flags);
    return;
  }
  state.timed = &counts;
  state.flush = flush;
  state.flushed_path = std::move(path);
}

void Tracer::begin_change(pid_t thread, Thread& state, const SystemCall& call,
                          std::uint64_t open_flags) {
  const auto change = change_call(call, open_flags);
  if (!change) return;
  const auto argument = [&](std::size_t i) {
    return i == ChangeCall::kNone ? AT_FDCWD : static_cast<std::int64_t>(call.arguments.at(i));
  };
  PendingChange pending{.call = *change, .path = {}, .to = {}};
  if (change->object == ChangeCall::Object::descriptor) {
    const std::int64_t descriptor = argument(change->path);
    if (link_of_descriptor(thread, descriptor) == output_) unflushed_.promised();
    pending.path = path_of_descriptor(thread, descriptor);
  } else {
    pending.path = path_of_name(thread, argument(change->folder), call.arguments.at(change->path));
    if (change->moves)
      pending.to =
          path_of_name(thread, argument(change->to_folder), call.arguments.at(change->to_path));
  }
  struct stat found{};
  const bool exists = ::lstat(pending.path.c_str(), &found) == 0;
  if (change->only_creates && exists) return;
  if (!change->names && (!exists || !S_ISREG(found.st_mode))) return;
  if (is_inside(pending.path) || is_inside(pending.to)) state.change = std::move(pending);
}

void Tracer::on_entry(pid_t thread, Thread& state) {
  state.timed = nullptr;
  state.flush.reset();
  state.change.reset();
  const auto call = call_at_entry(thread);
  if (!call) return;
  const std::uint64_t open_flags =
      call->number == SYS_openat2 ? open_how_flags(thread, call->arguments[2]) : 0;
  if (watches_changes()) begin_change(thread, state, *call, open_flags);
  if (const auto flush = flush_call(*call, open_flags)) begin_flush(thread, state, *call, *flush);
  state.begun_ns = now_ns();
}

void Tracer::on_exit(pid_t thread, Thread& state) {
  const std::int64_t ended = now_ns();
  const bool succeeded = (state.timed != nullptr || state.change) && result_at_exit(thread) >= 0;
  if (state.timed != nullptr) state.timed->ns += ended - state.begun_ns;
  if (state.change && succeeded) end_change(thread, *state.change);
  if (state.flush && succeeded) {
    if (state.flush->object == FlushCall::Object::everything || state.flush->kind == "syncfs")
      unflushed_.flushed_all();
    else if (state.flush->flags == 0)
      unflushed_.flushed(state.flushed_path);
  }
  state.timed = nullptr;
  state.flush.reset();
  state.change.reset();
}

/// Records that the object at `path` changed. If the options name this change site, flushes the
/// object.
void Tracer::change_object(pid_t thread, const PendingChange& change, const std::string& path) {
  const ChangeSite site{.stack = stacks_.key_of(thread, change.call.name),
                        .names = change.call.names,
                        .call = std::string(change.call.name)};
  unflushed_.changed(path, site);
  if (!options_.flush.contains(site.stack)) return;
  flush_path(path);
  ++trace_.flushed_by_tracer;
  unflushed_.flushed(path);
}

void Tracer::end_change(pid_t thread, const PendingChange& change) {
  if (!change.call.names) return change_object(thread, change, change.path);
  const std::string folder = fs::path(change.path).parent_path().string();
  if (change.call.moves)
    unflushed_.moved(change.path, change.to);
  else if (change.call.removes)
    unflushed_.removed(change.path);
  change_object(thread, change, folder);
  if (!change.call.moves) return;
  const std::string to_folder = fs::path(change.to).parent_path().string();
  if (to_folder != folder) change_object(thread, change, to_folder);
}

}  // namespace

std::string target_of(const std::string& path, const std::string& folder) {
  std::string name = path;
  if (path == folder)
    name = ".";
  else if (path.starts_with(folder + "/"))
    name = path.substr(folder.size() + 1);
  std::string target;
  for (const char c : name) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit)
      target += c;
    else if (target.empty() || target.back() != '#')
      target += '#';
  }
  return target;
}

std::optional<Trace> trace(const TracerOptions& options) {
  return Tracer(options).run();
}

}  // namespace headcrash::audit
