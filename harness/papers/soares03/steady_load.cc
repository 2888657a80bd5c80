// Runs the users, and collects the counters (steady_load.h).
#include "harness/papers/soares03/steady_load.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <random>

#include "harness/papers/probe_files.h"
#include "plugin/base/random.h"
#include "results/statistics/sample.h"

namespace headcrash::experiment::soares03 {
namespace {

using os::TimeNs;

struct Counted {
  double kib_written = 0, requests = 0, busy_s = 0;
  snapfs::Counters snapshots;
};

class Steady {
 public:
  Steady(ModelledMachine& machine, const SteadyLoad& load, std::uint64_t seed)
      : machine_(machine), load_(load), seed_(seed), snapshots_(snapshots_of(machine)) {}

  SteadyOutcome run() {
    spawn("operator", [this] {
      for (std::uint64_t i = 0; i < load_.folders; ++i)
        ok(vfs().mkdir(fmt::format("d{}", i), 0755));
      ok(vfs().syncfs());
    });
    machine_.system().executor.run();
    begin_ = machine_.now() + load_.warm_ns;
    end_ = begin_ + load_.measured_ns;
    for (std::size_t user = 0; user < load_.users; ++user)
      spawn(fmt::format("user {}", user), [this, user] { live(user); });
    if (load_.fsync_every_ns > 0) spawn("mail", [this] { sync_often(); });
    spawn("observer", [this] { observe(); });
    machine_.system().executor.run();
    return std::move(outcome_);
  }

 private:
  Vfs& vfs() { return machine_.vfs(); }
  TimeNs now() const { return machine_.now(); }
  void sleep_until(TimeNs at) { machine_.system().executor.sleep_until(at); }
  bool measuring() const { return now() >= begin_ && now() < end_; }
  bool good() const { return outcome_.error.empty(); }
  void ok(const VfsResult<void>& done) {
    if (!done && good())
      outcome_.error = fmt::format("an operation failed: errno {}", done.error().value);
  }
  void spawn(std::string who, std::function<void()> body) {
    accounts_.push_back({.name = std::move(who)});
    machine_.system().executor.spawn(os::Executor::Kind::user, accounts_.back(), std::move(body));
  }
  bool commit_under_way() const { return snapshots_ != nullptr && snapshots_->commit_under_way(); }

  void timed(const std::function<VfsResult<void>()>& operation) {
    const TimeNs begun_at = now();
    const bool before = commit_under_way(), counts = measuring();
    ok(operation());
    if (!counts) return;
    ++outcome_.operations;
    auto& responses = before || commit_under_way() ? outcome_.during_ms : outcome_.beside_ms;
    responses.push_back(seconds_of(now() - begun_at) * 1e3);
  }

  /// Creates files at random times, and removes each file when its lifetime has elapsed.
  void live(std::size_t user) {
    std::mt19937_64 random(seed_ * 64 + user);
    const double mean_ns = static_cast<double>(load_.users) / load_.files_per_s *
                           static_cast<double>(model::kSecondNs);
    std::deque<std::pair<TimeNs, std::string>> alive;
    auto due = static_cast<double>(now());
    for (std::uint64_t made = 0; good() && now() < end_; ++made) {
      due -= std::log(uniform_of(random())) * mean_ns;
      const auto next = static_cast<TimeNs>(due);
      while (good() && !alive.empty() && alive.front().first <= next) {
        sleep_until(alive.front().first);
        timed([&] { return vfs().unlink(alive.front().second); });
        alive.pop_front();
      }
      sleep_until(next);
      const std::string path = fmt::format("d{}/u{}-{}", random() % load_.folders, user, made);
      timed([&] { return make_file(vfs(), path, made, load_.file_bytes); });
      const double lifetime_ns = load_.lifetime_s * static_cast<double>(model::kSecondNs);
      alive.emplace_back(now() + static_cast<TimeNs>(lifetime_ns), path);
    }
  }

  void sync_often() {
    const std::vector<std::byte> block(4096, std::byte{0x5a});
    const auto file = vfs().open("mail", {.create = true});
    if (!file) return ok(tl::unexpected(file.error()));
    for (std::uint64_t at = 0; good() && now() < end_; at += block.size()) {
      sleep_until(now() + load_.fsync_every_ns);
      ok(vfs().pwrite(*file, at, block));
      const TimeNs begun_at = now();
      const bool counts = measuring();
      ok(vfs().fsync(*file));
      if (counts) outcome_.fsync_ms.push_back(seconds_of(now() - begun_at) * 1e3);
    }
    ok(vfs().close(*file));
  }

  Counted count() const {
    const auto& disk = machine_.system().queue.counters();
    const model::DeviceCounters drive = machine_.device_counters();
    constexpr double kSectorsPerKib = 2;
    Counted counted{.kib_written = static_cast<double>(drive.sectors_written) / kSectorsPerKib,
                    .requests = static_cast<double>(disk.requests),
                    .busy_s = seconds_of(drive.busy_ns)};
    if (snapshots_ != nullptr) counted.snapshots = snapshots_->counters();
    return counted;
  }

  void observe() {
    constexpr TimeNs kEach = 50 * model::kMillisecondNs;
    sleep_until(begin_);
    const Counted before = count();
    while (good() && now() < end_) {
      sleep_until(std::min(now() + kEach, end_));
      if (snapshots_ != nullptr)
        outcome_.held_back_most =
            std::max(outcome_.held_back_most, static_cast<double>(snapshots_->blocks_held_back()));
    }
    const Counted after = count();
    outcome_.kib_written = after.kib_written - before.kib_written;
    outcome_.requests = after.requests - before.requests;
    outcome_.disk_busy_s = after.busy_s - before.busy_s;
    if (snapshots_ == nullptr) return;
    const auto more = [&](std::uint64_t snapfs::Counters::* counter) {
      return static_cast<double>(after.snapshots.*counter - before.snapshots.*counter);
    };
    outcome_.commits = more(&snapfs::Counters::commits);
    outcome_.never_written = more(&snapfs::Counters::never_written);
    outcome_.freed_in_flight = more(&snapfs::Counters::freed_in_flight);
    outcome_.blocks_copied = more(&snapfs::Counters::blocks_copied);
    outcome_.in_use =
        static_cast<double>(snapshots_->superblock().blocks) -
        static_cast<double>(snapshots_->free_blocks_now() + snapshots_->blocks_held_back());
  }

  ModelledMachine& machine_;
  const SteadyLoad& load_;
  std::uint64_t seed_;
  const snapfs::Store* snapshots_;
  TimeNs begin_ = 0, end_ = 0;
  std::deque<os::Account> accounts_;
  SteadyOutcome outcome_;
};

}  // namespace

SteadyOutcome run_steady(const Setup& setup, const SteadyLoad& load, std::uint64_t seed) {
  const auto machine = ModelledMachine::start(setup.machine);
  if (!machine) return {.error = machine.error().message()};
  return Steady(**machine, load, seed).run();
}

Figure quantile_of(const std::vector<double>& responses, double share) {
  if (responses.empty()) return std::nullopt;
  return statistics::quantile(responses, share);
}

}  // namespace headcrash::experiment::soares03
