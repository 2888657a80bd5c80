#pragma once
// The machine of Chen 1996, section 6: a DEC AXP 3000/600 with Digital Unix 3.0 and one RZ26L.
//
//   processor   no cost of a single thing is printed. The table is that of the i486 at 33 MHz (../i486_33.h), divided
//               by one factor, the same in every cell
//   memory      128 MB; "the file cache can grow as large as 80-90 MB": 85 MB
//   drive       dec-rz26l, without a write cache; one request at a time; C-LOOK in the driver
//   requests    what is adjacent is one request of up to 64 KiB, as UFS of that time clusters ([McVoy91])
//   files       ufs, blocks of 8 KiB; metadata goes to the disk each second. A block on its way travels as a copy: where
//               it is locked instead, a writer waits for its inode's block each second, behind all that a reader
//               reads in a row (C-LOOK)

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "harness/experiment/judge.h"
#include "harness/experiment/modelled_machine.h"

namespace headcrash::experiment::chen96 {

/// Estimate: 114 SPECint92 (AXP 3000/600) by 18 (i486 at 33 MHz), of which memory has less.
inline constexpr double kAxpFasterThanI486 = 5;

inline constexpr std::uint64_t kMb = 1'000'000;
inline constexpr std::uint64_t kUnitBytes = 1 << 20;  ///< "sequentially in 1 MB units"

/// For an infinite delay in a timed workload: long after its end, when the machine is waited for to become quiet.
inline constexpr os::TimeNs kLongAfter = 500 * model::kSecondNs;

/// What is adjacent is one request of that size at most.
inline constexpr std::uint32_t kRequestBytes = 64 << 10;

/// With that delay: interval periodic update.
Result<ModelledMachineOptions> axp3000_600(os::TimeNs delay_ns, std::uint32_t request_bytes = kRequestBytes);

/// Megabytes of 10^6.
inline double megabytes(std::uint64_t bytes) {
  return static_cast<double>(bytes) / static_cast<double>(kMb);
}

/// A machine and its users; the first error of any of them.
class Bench {
 public:
  explicit Bench(const Result<ModelledMachineOptions>& options) {
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
  ModelledMachine& machine() { return *machine_; }
  Vfs& vfs() { return machine_->vfs(); }
  os::TimeNs now() const { return machine_->now(); }
  void sleep_until(os::TimeNs at) { machine_->system().executor.sleep_until(at); }

  /// Notes what a call was refused with; true if it was not.
  template <typename Value>
  bool ok(const VfsResult<Value>& result) {
    if (!result && error_.empty())
      error_ = fmt::format("the file system refused: errno {}", result.error().value);
    return result.has_value();
  }

  /// Users at the same time, until all have ended.
  void run(const std::vector<std::function<void()>>& users) {
    if (!good()) return;
    for (std::size_t i = 0; i < users.size(); ++i)
      machine_->system().executor.spawn(os::Executor::Kind::user, accounts_.at(i), users[i]);
    machine_->system().executor.run();
  }

  /// A file of that size, on the disk and not in the cache.
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
  /// In units, from `offset`; false after an error.
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

 private:
  std::unique_ptr<ModelledMachine> machine_;
  std::array<os::Account, 4> accounts_{os::Account{.name = "one"}, os::Account{.name = "two"},
                                       os::Account{.name = "three"}, os::Account{.name = "four"}};
  std::vector<std::byte> unit_ = std::vector<std::byte>(kUnitBytes, std::byte{0x5a});
  std::string error_;
};

}  // namespace headcrash::experiment::chen96
