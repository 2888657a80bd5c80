// Runs the load of rule 3 (overwrite.h).
#include "harness/papers/chen96/overwrite.h"

#include <algorithm>

namespace headcrash::experiment::chen96 {
namespace {

using os::TimeNs;

/// The bytes that the users moved between `begin` and `end`.
struct Moved {
  TimeNs begin = 0, end = 0;
  std::uint64_t read = 0, written = 0;

  bool counts(TimeNs at) const { return at >= begin && at < end; }
};

void read_all_the_time(LoadedMachine& machine, const OverwriteLoad& load, Moved& moved) {
  const auto file = machine.vfs().open("read", {});
  for (std::uint64_t at = 0; machine.ok(file) && machine.now() < moved.end;) {
    const std::uint64_t unit = std::min(LoadedMachine::kUnitBytes, load.read_bytes - at);
    if (!machine.read(*file, at, unit)) return;
    if (moved.counts(machine.now())) moved.read += unit;
    at = at + unit == load.read_bytes ? 0 : at + unit;
  }
}

void write_at_the_target(LoadedMachine& machine, const OverwriteLoad& load, Moved& moved) {
  const auto file = machine.vfs().open("written", {});
  const double turn_ns = static_cast<double>(LoadedMachine::kUnitBytes) / load.target_mb_s /
                         static_cast<double>(kMb) * static_cast<double>(model::kSecondNs);
  auto due = static_cast<double>(machine.now());
  for (std::uint64_t at = 0; machine.ok(file) && machine.now() < moved.end;) {
    const std::uint64_t unit = std::min(LoadedMachine::kUnitBytes, load.written_bytes - at);
    if (!machine.write(*file, at, unit)) return;
    if (moved.counts(machine.now())) moved.written += unit;
    at = at + unit == load.written_bytes ? 0 : at + unit;
    // A writer that was late does not catch up: if it did, it would overwrite data before the
    // lifetime, which the paper calls fixed.
    due = std::max(due + turn_ns, static_cast<double>(machine.now()));
    machine.sleep_until(static_cast<TimeNs>(due));
  }
}

}  // namespace

OverwriteRates overwrite(const Result<ModelledMachineOptions>& options, const OverwriteLoad& load) {
  LoadedMachine machine(options);
  if (machine.good() && load.read_bytes > 0) machine.make_cold_file("read", load.read_bytes);
  // Creates the file that the writer overwrites. The file's data remains in the cache, as if
  // earlier rounds had overwritten it.
  machine.run({[&] {
    const auto file = machine.vfs().open("written", {.create = true});
    if (machine.ok(file) && machine.write(*file, 0, load.written_bytes))
      machine.ok(machine.vfs().syncfs());
  }});
  if (!machine.good()) return {{}, {}, {}, machine.error()};
  Moved moved{.begin = machine.now() + load.warm_ns};
  moved.end = moved.begin + load.measured_ns;
  std::uint64_t disk_before = 0, disk_after = 0;
  const auto disk_written = [&] {
    return machine.modelled().device_counters().sectors_written * model::kSectorBytes;
  };
  std::vector<std::function<void()>> users{[&] { write_at_the_target(machine, load, moved); },
                                           [&] {
                                             machine.sleep_until(moved.begin);
                                             disk_before = disk_written();
                                             machine.sleep_until(moved.end);
                                             disk_after = disk_written();
                                           }};
  if (load.read_bytes > 0)
    users.insert(users.begin(), [&] { read_all_the_time(machine, load, moved); });
  machine.run(users);
  if (!machine.good()) return {{}, {}, {}, machine.error()};
  const double seconds = seconds_of(load.measured_ns);
  return {megabytes(moved.read) / seconds,
          megabytes(moved.written) / seconds,
          megabytes(disk_after - disk_before) / seconds,
          {}};
}

}  // namespace headcrash::experiment::chen96
