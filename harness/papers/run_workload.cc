// Runs the phases of a workload with one fiber per user (run_workload.h).
#include "harness/papers/run_workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <utility>

#include "fs-adapters/snapfs/file_system.h"

namespace headcrash::experiment {
namespace {

using os::TimeNs;

class ModelPace : public timed::Pace {
 public:
  explicit ModelPace(ModelledMachine& machine) : machine_(machine) {}
  std::int64_t now_ns() override { return machine_.now(); }
  void sleep_until(std::int64_t at_ns) override { machine_.system().executor.sleep_until(at_ns); }

 private:
  ModelledMachine& machine_;
};

struct UserRun {
  os::Account account;
  std::unique_ptr<timed::User> user;
  timed::PhaseResult result;
  TimeNs ended_at = 0;
};

/// The values of the counters at the start of a phase.
struct Snapshot {
  TimeNs at = 0, syncer_cpu = 0, interrupt_cpu = 0, cpu = 0, busy = 0;
  std::uint64_t lock_waits = 0, drive_writes = 0, generations = 0;
};

class Runner {
 public:
  Runner(ModelledMachine& machine, const WorkloadRun& run, const timed::Arguments& arguments)
      : machine_(machine), run_(run), arguments_(arguments), pace_(machine) {}

  enum class End : std::uint8_t { at_once, quiet, cut };
  Result<PhaseOutcome> run(const timed::Phase& phase, End end) {
    if (phase.cold) {
      TRY(make_cold());
    }
    if (phase.measured && !std::exchange(measured_before_, true) && run_.begins_after_ns > 0)
      machine_.system().executor.run_until(machine_.now() + run_.begins_after_ns);
    machine_.clear_trace();
    const Snapshot before = snapshot();
    if (end == End::cut && run_.cut_after_ns > 0) machine_.cut_after(run_.cut_after_ns);
    TRY(auto users, run_users(phase));
    PhaseOutcome outcome = of_users(phase, users, before.at);
    outcome.requests_while_elapsed = machine_.system().queue.counters().requests;
    outcome.generations = generations() - before.generations;
    if (end == End::quiet) {
      const TimeNs ended_at = machine_.now();
      TRY(const auto quiet, machine_.become_quiet());
      outcome.quiescent_s = seconds_of(std::max(quiet, ended_at) - before.at);
    }
    add_machine(outcome, before);
    return outcome;
  }

  /// Cuts the power and recovers. Returns the `repair` and `mount` phases.
  Result<std::vector<PhaseOutcome>> cut_and_recover() {
    machine_.cut();
    TRY(const auto recovery, machine_.recover(run_.repair));
    return std::vector<PhaseOutcome>{of_step("repair", recovery.repair),
                                     of_step("mount", recovery.mount)};
  }

 private:
  static PhaseOutcome of_step(const char* name, const RecoveryStep& step) {
    PhaseOutcome outcome{.name = name};
    outcome.elapsed_s = outcome.longest_s = seconds_of(step.elapsed_ns);
    outcome.user_cpu_s = seconds_of(step.cpu_ns);
    outcome.disk_busy_s = seconds_of(step.device_busy_ns);
    outcome.requests = outcome.requests_while_elapsed = step.requests;
    outcome.sectors = step.sectors;
    return outcome;
  }

  Snapshot snapshot() {
    return {.at = machine_.now(),
            .syncer_cpu = machine_.system().syncer.account().cpu_ns,
            .interrupt_cpu = machine_.system().cpu.interrupts().cpu_ns,
            .cpu = machine_.system().cpu.busy_ns(),
            .busy = machine_.device_counters().busy_ns,
            .lock_waits = machine_.system().cache.counters().lock_waits,
            .drive_writes = machine_.device_counters().writes,
            .generations = generations()};
  }

  /// Returns the number of generations that snapfs has committed; 0 for other file systems.
  std::uint64_t generations() {
    const auto* snapshots = dynamic_cast<const snapfs::FileSystem*>(&machine_.vfs());
    return snapshots == nullptr ? 0 : snapshots->snapshots().counters().commits;
  }

  Result<void> make_cold() {
    VfsResult<void> done;
    os::Account account{.name = "operator"};
    machine_.system().run_as(account, [&] {
      done = machine_.vfs().syncfs();
      if (done) done = machine_.vfs().drop_caches();
    });
    if (!done) return fail(run_.workload, "sync failed", "check the scheme's fsync");
    return {};
  }

  Result<std::vector<std::unique_ptr<UserRun>>> run_users(const timed::Phase& phase) {
    std::vector<std::unique_ptr<UserRun>> users;
    std::atomic<bool> interrupted = false;
    for (std::size_t i = 0; i < phase.users; ++i) {
      users.push_back(std::make_unique<UserRun>());
      UserRun& one = *users.back();
      one.account.name = fmt::format("user {}", i);
      one.user.reset(new timed::User{.vfs = machine_.vfs(),
                                     .pace = pace_,
                                     .number = i,
                                     .arguments = arguments_,
                                     .seed = run_.seed,
                                     .interrupted = &interrupted});
      machine_.system().executor.spawn(os::Executor::Kind::user, one.account,
                                       [&one, &phase, &interrupted, this] {
                                         one.result = phase.body(*one.user);
                                         one.ended_at = machine_.now();
                                         if (!one.result) interrupted = true;
                                       });
    }
    machine_.system().executor.run();
    const timed::PhaseError* first = nullptr;
    for (const auto& one : users) {
      if (!one->result && (first == nullptr || first->error == ECANCELED))
        first = &one->result.error();
    }
    if (first != nullptr && machine_.has_power())
      return fail(
          fmt::format("{}, phase {}", run_.workload, phase.name), first->what,
          "the file system returned wrong data or an unexpected error, so there is no result");
    return users;
  }

  static PhaseOutcome of_users(const timed::Phase& phase,
                               const std::vector<std::unique_ptr<UserRun>>& users,
                               TimeNs begun_at) {
    PhaseOutcome outcome{.name = phase.name, .measured = phase.measured, .users = phase.users};
    LatencyHistogram latencies;
    for (const auto& one : users) {
      latencies.add(one->user->tally.latencies);
      const double elapsed = seconds_of(one->ended_at - begun_at);
      outcome.elapsed_s += elapsed / static_cast<double>(users.size());
      outcome.longest_s = std::max(outcome.longest_s, elapsed);
      outcome.user_cpu_s += seconds_of(one->account.cpu_ns);
      outcome.user_wait_s += seconds_of(one->account.disk_wait_ns);
      for (std::size_t cost = 0; cost < os::kCostCount; ++cost)
        outcome.user_charged[cost] += one->account.charged[cost];
      outcome.operations += one->user->tally.operations;
      outcome.bytes_read += one->user->tally.bytes_read;
      outcome.bytes_written += one->user->tally.bytes_written;
    }
    outcome.operation_ms = latencies.summary().mean_ns / 1e6;
    outcome.operation_p99_ms = seconds_of(latencies.quantile_ns(.99)) * 1e3;
    return outcome;
  }

  void add_machine(PhaseOutcome& outcome, const Snapshot& before) {
    const Snapshot after = snapshot();
    const os::DiskQueueCounters& disk = machine_.system().queue.counters();
    outcome.syncer_cpu_s = seconds_of(after.syncer_cpu - before.syncer_cpu);
    outcome.interrupt_cpu_s = seconds_of(after.interrupt_cpu - before.interrupt_cpu);
    outcome.cpu_busy_s = seconds_of(after.cpu - before.cpu);
    outcome.disk_busy_s = seconds_of(after.busy - before.busy);
    outcome.lock_waits = after.lock_waits - before.lock_waits;
    outcome.drive_writes = after.drive_writes - before.drive_writes;
    outcome.requests = disk.requests;
    outcome.issued_reads = disk.issued_reads;
    outcome.issued_writes = disk.issued_writes;
    outcome.sectors = disk.sectors;
    outcome.queued_most = disk.queued_most;
    if (disk.requests > 0) {
      const double ms_each = 1e3 / static_cast<double>(disk.requests);
      outcome.response_ms = seconds_of(disk.response_ns) * ms_each;
      outcome.access_ms = seconds_of(disk.access_ns) * ms_each;
    }
  }

  ModelledMachine& machine_;
  const WorkloadRun& run_;
  const timed::Arguments& arguments_;
  ModelPace pace_;
  bool measured_before_ = false;
};

constexpr double PhaseOutcome::* kTimes[] = {
    &PhaseOutcome::elapsed_s,       &PhaseOutcome::longest_s,       &PhaseOutcome::quiescent_s,
    &PhaseOutcome::user_cpu_s,      &PhaseOutcome::user_wait_s,     &PhaseOutcome::syncer_cpu_s,
    &PhaseOutcome::disk_busy_s,     &PhaseOutcome::interrupt_cpu_s, &PhaseOutcome::cpu_busy_s,
    &PhaseOutcome::response_ms,     &PhaseOutcome::access_ms,       &PhaseOutcome::operation_ms,
    &PhaseOutcome::operation_p99_ms};
constexpr std::uint64_t PhaseOutcome::* kCounts[] = {
    &PhaseOutcome::requests,     &PhaseOutcome::requests_while_elapsed,
    &PhaseOutcome::issued_reads, &PhaseOutcome::issued_writes,
    &PhaseOutcome::sectors,      &PhaseOutcome::queued_most,
    &PhaseOutcome::lock_waits,   &PhaseOutcome::drive_writes,
    &PhaseOutcome::generations};

}  // namespace

WorkloadOutcome mean_of(const std::vector<WorkloadOutcome>& executions) {
  WorkloadOutcome mean = executions.front();
  // Executions may have different numbers of phases, because some may have skipped the verification
  // at the end.
  const auto average_of = [&](std::size_t phase, const auto& value) {
    double sum = 0, count = 0;
    for (const WorkloadOutcome& one : executions) {
      if (phase >= one.phases.size()) continue;
      sum += static_cast<double>(value(one.phases[phase]));
      ++count;
    }
    return sum / count;
  };
  const auto average = [&](std::size_t phase, auto field) {
    return average_of(phase, [field](const PhaseOutcome& one) { return one.*field; });
  };
  for (std::size_t i = 0; i < mean.phases.size(); ++i) {
    for (const auto field : kTimes) mean.phases[i].*field = average(i, field);
    for (const auto field : kCounts)
      mean.phases[i].*field = static_cast<std::uint64_t>(std::llround(average(i, field)));
    for (std::size_t cost = 0; cost < os::kCostCount; ++cost)
      mean.phases[i].user_charged[cost] = std::llround(
          average_of(i, [cost](const PhaseOutcome& one) { return one.user_charged[cost]; }));
  }
  mean.modelled_s = 0;
  for (const WorkloadOutcome& one : executions) mean.modelled_s += one.modelled_s;
  return mean;
}

const PhaseOutcome* WorkloadOutcome::phase(std::string_view name) const {
  const auto found = std::find_if(phases.begin(), phases.end(), [name](const PhaseOutcome& each) {
    return each.measured && each.name == name;
  });
  return found == phases.end() ? nullptr : &*found;
}

Result<WorkloadOutcome> run_workload(ModelledMachine& machine, const WorkloadRun& run) {
  TRY(const auto workload, timed::find_timed_workload(run.workload));
  TRY(const auto arguments, timed::arguments_of(*workload, run.scaled, run.replaced, run.workload));
  WorkloadOutcome outcome{.operation = std::string(workload->operation)};
  for (const auto& [name, value] : arguments)
    outcome.parameters +=
        fmt::format("{}{}={}", outcome.parameters.empty() ? "" : " ", name, value);
  std::vector<timed::Phase> phases = workload->phases(arguments);
  // Phases after a power cut are never skipped: a workload with a power cut exists only to run
  // them.
  if (!run.verify && std::ranges::none_of(phases, &timed::Phase::after_cut)) {
    while (!phases.empty() && !phases.back().measured) phases.pop_back();
  }
  const TimeNs begun_at = machine.now();
  Runner runner(machine, run, arguments);
  for (std::size_t i = 0; i < phases.size(); ++i) {
    const timed::Phase* next = i + 1 < phases.size() ? &phases[i + 1] : nullptr;
    Runner::End end = next && (phases[i].next_at_once || (phases[i].measured && next->measured))
                          ? Runner::End::at_once
                          : Runner::End::quiet;
    if (next && next->after_cut && !phases[i].after_cut) end = Runner::End::cut;
    TRY(auto phase, runner.run(phases[i], end));
    outcome.phases.push_back(std::move(phase));
    if (end != Runner::End::cut) continue;
    TRY(auto recovered, runner.cut_and_recover());
    for (PhaseOutcome& each : recovered) outcome.phases.push_back(std::move(each));
  }
  outcome.modelled_s = seconds_of(machine.now() - begun_at);
  return outcome;
}

}  // namespace headcrash::experiment
