// Runs the threads of a phase and measures its times (timed_phase.h).
#include "harness/guest/timed_phase.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <ctime>
#include <fstream>
#include <mutex>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "harness/guest/kernel.h"

namespace headcrash::guest {
namespace {

// Small, so that many users' stacks fit into a guest with 64 MiB.
constexpr std::size_t kStackBytes = 256 << 10;

class MonotonicClock : public timed::Pace {
 public:
  std::int64_t now_ns() override {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * kNsPerSecond + now.tv_nsec;
  }
  void sleep_until(std::int64_t at_ns) override {
    const timespec at{.tv_sec = at_ns / kNsPerSecond, .tv_nsec = at_ns % kNsPerSecond};
    while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr) == EINTR) {
    }
  }
};

class PhaseRun {
 public:
  PhaseRun(const timed::Phase& phase, const timed::Arguments& arguments, std::uint64_t seed,
           Vfs& vfs, std::string clock_disk)
      : phase_(phase), clock_disk_(std::move(clock_disk)) {
    workers_.reserve(phase.users);
    for (std::size_t i = 0; i < phase.users; ++i) {
      workers_.push_back({.run = this,
                          .user = {.vfs = vfs,
                                   .pace = clock_,
                                   .number = i,
                                   .arguments = arguments,
                                   .seed = seed,
                                   .interrupted = &interrupted_}});
    }
  }

  VfsResult<PhaseMeasure> run() {
    const int error = start_threads();
    if (error != 0) interrupted_ = true;
    wait_until_ready();
    const CpuTimes cpu_before = cpu_times();
    const std::int64_t start_ns = time_ns();
    open_gate();
    for (std::size_t i = 0; i < started_; ++i) ::pthread_join(workers_[i].thread, nullptr);
    if (error != 0) return refuse(error);
    if (clock_failed_) return refuse(EIO);
    const CpuTimes cpu_after = cpu_times();
    measure_.elapsed_ns = end_ns_ - start_ns;
    measure_.user_ms = cpu_after.user_ms - cpu_before.user_ms;
    measure_.system_ms = cpu_after.system_ms - cpu_before.system_ms;
    for (const Worker& worker : workers_) measure_.tally.add(worker.user.tally);
    return std::move(measure_);
  }

 private:
  struct Worker {
    PhaseRun* run;
    timed::User user;
    pthread_t thread{};
  };

  int start_threads() {
    pthread_attr_t attributes;
    ::pthread_attr_init(&attributes);
    ::pthread_attr_setstacksize(&attributes, kStackBytes);
    int error = 0;
    for (Worker& worker : workers_) {
      error = ::pthread_create(&worker.thread, &attributes, enter, &worker);
      if (error != 0) break;
      ++started_;
    }
    ::pthread_attr_destroy(&attributes);
    return error;
  }

  static void* enter(void* worker) {
    auto* self = static_cast<Worker*>(worker);
    self->run->work(self->user);
    return nullptr;
  }

  void work(timed::User& user) {
    {
      std::unique_lock lock(lock_);
      ++ready_;
      changed_.notify_all();
      changed_.wait(lock, [this] { return open_; });
    }
    timed::PhaseResult done;
    try {
      if (!interrupted_) done = phase_.body(user);
    } catch (const std::bad_alloc&) {
      done = tl::unexpected(timed::PhaseError{.what = "no memory", .error = ENOMEM});
    }
    const std::int64_t now_ns = time_ns();
    const std::scoped_lock lock(lock_);
    end_ns_ = std::max(end_ns_, now_ns);
    if (done || interrupted_.exchange(true)) return;
    measure_.error = done.error();
  }

  std::int64_t time_ns() {
    if (!clock_disk_.empty() && !read_nonce(clock_disk_)) clock_failed_ = true;
    return clock_.now_ns();
  }

  void wait_until_ready() {
    std::unique_lock lock(lock_);
    changed_.wait(lock, [this] { return ready_ == started_; });
  }

  void open_gate() {
    const std::scoped_lock lock(lock_);
    open_ = true;
    changed_.notify_all();
  }

  const timed::Phase& phase_;
  std::string clock_disk_;
  std::atomic<bool> clock_failed_ = false;
  MonotonicClock clock_;
  std::vector<Worker> workers_;
  std::size_t started_ = 0;
  std::atomic<bool> interrupted_ = false;

  std::mutex lock_;
  std::condition_variable changed_;
  std::size_t ready_ = 0;
  bool open_ = false;
  std::int64_t end_ns_ = 0;
  PhaseMeasure measure_;
};

}  // namespace

CpuTimes cpu_times() {
  std::ifstream stat("/proc/stat");
  std::string word;
  std::int64_t user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, softirq = 0;
  if (!(stat >> word >> user >> nice >> system >> idle >> wait >> irq >> softirq)) return {};
  const std::int64_t tick_ms = 1000 / ::sysconf(_SC_CLK_TCK);
  return {.user_ms = (user + nice) * tick_ms, .system_ms = (system + irq + softirq) * tick_ms};
}

VfsResult<PhaseMeasure> run_timed_phase(const timed::Phase& phase,
                                        const timed::Arguments& arguments, std::uint64_t seed,
                                        Vfs& vfs, const std::string& clock_disk) {
  if (phase.cold) {
    if (const auto synced = vfs.sync(); !synced) return refuse(synced.error().value);
    if (const auto dropped = vfs.drop_caches(); !dropped) return refuse(dropped.error().value);
  }
  return PhaseRun(phase, arguments, seed, vfs, clock_disk).run();
}

}  // namespace headcrash::guest
