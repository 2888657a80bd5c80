#pragma once
// A modelled machine whose users run arbitrary code instead of a timed workload.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "harness/papers/modelled_machine.h"

namespace headcrash::experiment {

/// A machine, and the first error that any of its users encountered.
class LoadedMachine {
 public:
  explicit LoadedMachine(const Result<ModelledMachineOptions>& options) {
    if (!options) {
      error_ = options.error().message();
      return;
    }
    auto started = ModelledMachine::start(*options);
    if (started)
      machine_ = std::move(*started);
    else
      error_ = started.error().message();
  }

  bool good() const { return error_.empty(); }
  const std::string& error() const { return error_; }
  ModelledMachine& modelled() { return *machine_; }
  Vfs& vfs() { return machine_->vfs(); }
  os::TimeNs now() const { return machine_->now(); }
  void sleep_until(os::TimeNs at) { machine_->system().executor.sleep_until(at); }

  /// Records the error if a call failed. Returns true if the call succeeded.
  template <typename Value>
  bool ok(const VfsResult<Value>& result) {
    if (!result && error_.empty())
      error_ = fmt::format("an operation failed: errno {}", result.error().value);
    return result.has_value();
  }

  /// Runs users concurrently until all have ended.
  void run(const std::vector<std::function<void()>>& users) {
    if (!good()) return;
    for (std::size_t i = 0; i < users.size(); ++i)
      machine_->system().executor.spawn(os::Executor::Kind::user, accounts_.at(i), users[i]);
    machine_->system().executor.run();
  }

  /// Creates a file of the given size. Its data is on the disk but not in the cache.
  void make_cold_file(const std::string& path, std::uint64_t bytes) {
    run({[&] {
      const auto file = vfs().open(path, {.create = true});
      if (!ok(file)) return;
      write(*file, 0, bytes);
      ok(vfs().close(*file));
      ok(vfs().syncfs());
      ok(vfs().drop_caches());
    }});
  }
  /// Writes the range in units of kUnitBytes. Returns false after an error.
  bool write(FileHandle file, std::uint64_t offset, std::uint64_t bytes) {
    for (std::uint64_t done = 0; done < bytes;) {
      const std::uint64_t unit = std::min(kUnitBytes, bytes - done);
      if (!ok(vfs().pwrite(file, offset + done, std::span(unit_).first(unit)))) return false;
      done += unit;
    }
    return true;
  }
  bool read(FileHandle file, std::uint64_t offset, std::uint64_t bytes) {
    return ok(vfs().pread(file, offset, std::span(unit_).first(bytes)));
  }

  static constexpr std::uint64_t kUnitBytes = 1 << 20;

 private:
  std::unique_ptr<ModelledMachine> machine_;
  std::array<os::Account, 4> accounts_{os::Account{.name = "one"}, os::Account{.name = "two"},
                                       os::Account{.name = "three"}, os::Account{.name = "four"}};
  std::vector<std::byte> unit_ = std::vector<std::byte>(kUnitBytes, std::byte{0x5a});
  std::string error_;
};

}  // namespace headcrash::experiment
