#pragma once
// Sends requests to the agent of a guest, and converts failures to verdicts:
//
//   kernel reported a crash      oops, whatever else happened
//   agent refused                harness error (or, for mount, an answer)
//   no answer in time            hang
//   QEMU exited                  oops
//   user interrupted             harness error, "interrupted", at once
//
// The explorer's stages (stage_guest.h) and the trials of campaigns use this class.

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fs-adapters/linux/adapter.h"
#include "harness/oracle/application_verdict.h"
#include "harness/oracle/observed_tree.h"
#include "harness/oracle/verdict.h"
#include "harness/vm/guest.h"
#include "harness/workload/application.h"
#include "harness/workload/operation.h"

namespace headcrash::run {

/// A value, or the verdict that ends the current work: hang, oops or harness error.
template <typename T>
using Step = tl::expected<T, oracle::Judgement>;

/// Return a verdict as an error. `why` may contain output of the guest; unprintable characters are
/// replaced.
tl::unexpected<oracle::Judgement> stop(oracle::Verdict verdict, const std::string& why);
tl::unexpected<oracle::Judgement> broken(const Error& error);
Step<void> as_step(const Result<void>& result);
/// Adds a hint on installing the missing tool to a harness error, because such an error means that
/// the agent could not start the tool.
template <typename T>
Step<T> with_tool_remedy(Step<T> outcome, const adapters::LinuxAdapter& filesystem) {
  if (!outcome && outcome.error().verdict == oracle::Verdict::harness_error)
    outcome.error().summary += "; " + adapters::missing_tool_hint(filesystem);
  return outcome;
}

struct GuestOutcome {
  int exit_code = 0;
  std::string output;  ///< standard output, then standard error
  /// Length in bytes of the standard output at the beginning of `output`.
  std::size_t standard = 0;
  double wall_ms = 0;  ///< elapsed time on the guest's clock
  std::string out() const { return output.substr(0, standard); }
};

struct RunOutcome {
  std::size_t done = 0;  ///< number of operations
  std::vector<workload::FailedOperation> failed_operations;
  std::optional<std::string> failure;  ///< the operation that broke a promise, and how
};

/// Identity of the loaded disk: its size, and a nonce on the disk for marks that changes with each
/// load.
struct DiskIdentity {
  std::uint64_t bytes = 0;
  std::string nonce;
  std::uint64_t log_bytes = 0;     ///< size of kStageLog; 0 if there is no log device
  bool write_through = false;      ///< the guest sends no flushes to the disk
  bool log_write_through = false;  ///< the guest sends no flushes to kStageLog
  static std::string_view write_cache(bool through) {
    return through ? "write through" : "write back";
  }
};

/// The result of one mount, dump and unmount.
struct MountCycle {
  bool mounted = false;
  std::string refusal;  ///< the kernel's error if not mounted
  double mount_ms = 0, dump_ms = 0, unmount_ms = 0;
};

/// The result of an inspection: one mount cycle, and a second one if requested.
struct Inspection {
  double verify_ms = 0;  ///< time spent on dropping cached pages and checking size and nonce
  MountCycle first;
  std::vector<oracle::ObservedObject> tree;
  std::optional<MountCycle> again;
  std::string difference;  ///< first difference between the two trees; empty if they are equal
  /// The error that occurred when the file system was used after the last mount cycle. Empty if
  /// there was no error, or if the file system was not used.
  std::string unusable;
  double use_ms = 0;
  std::string log;  ///< kernel log since the previous inspection or call of kernel_log()
};

/// Optional parts of an inspection.
struct InspectOptions {
  bool again = false;  ///< mount a second time
  /// After the last dump, create new names and remove everything (harness/guest/use.h). Not for
  /// file systems that a program mounts.
  bool use = false;
};

/// The settings of the guest's disks. `quick` bypasses the guest's I/O scheduler and omits flushes.
/// Use it only if nothing is recorded (PROTOCOL.md).
enum class Pace : std::uint8_t { as_booted, quick };

/// Maximum number of objects in a reported tree. The agent has the same limit
/// (harness/guest/dump.h).
inline constexpr std::size_t kTreeObjectsMost = 1'000'000;

inline constexpr const char* kStageDisk = "/dev/vda";
inline constexpr const char* kStageMarks = "/dev/vdb";
inline constexpr const char* kStageLog = "/dev/vdc";
inline constexpr const char* kMountPoint = "/mnt";

/// Returns an adapter's command with the guest's devices and folders in place of the placeholders.
std::vector<std::string> in_guest(const std::vector<std::string>& argv, std::string_view uuid = {});

class GuestSession {
 public:
  /// `guest` and `interrupted` must outlive this object. `interrupted` may be null.
  GuestSession(vm::Guest& guest, std::chrono::milliseconds step_timeout,
               const std::atomic<bool>* interrupted = nullptr)
      : guest_(guest), timeout_(step_timeout), interrupted_(interrupted) {}

  Step<nlohmann::json> call(const nlohmann::json& request, const vm::EventHandler& on_event = {});

  /// Sets the wall clock and the seed of the guest's random generators.
  Step<void> set_clock(const std::string& seed_hex);
  /// Drops cached pages, then verifies that the guest sees the disks that the server currently
  /// exports.
  Step<void> verify_disks(const DiskIdentity& meant);

  Step<GuestOutcome> exec(const std::vector<std::string>& argv);
  /// Mounts the file system. Returns false if the kernel refused, and stores its error in `why`.
  Step<bool> mount(const adapters::LinuxAdapter& filesystem, std::string* why = nullptr);
  Step<void> unmount();
  /// Runs operations and writes marks to the second disk. `earlier` lists operations of preceding
  /// parts of the same workload that were skipped or partial.
  Step<RunOutcome> run(const std::vector<workload::Operation>& operations,
                       std::span<const workload::FailedOperation> earlier = {});
  /// Stores a file in the guest's memory (PROTOCOL.md, `put`).
  Step<void> put(const std::string& path, const std::string& text);
  /// Runs the application's `run` commands to their end, and writes marks to the second disk.
  /// `failure` of the result describes a failed command.
  Step<RunOutcome> run_application(const workload::Application& application);
  /// Runs one command of `verify` with the persisted texts as its input.
  Step<oracle::VerifierEnd> verify_application(const std::vector<std::string>& argv,
                                               const std::string& input);
  Step<std::vector<oracle::ObservedObject>> dump();
  /// Inspects the file system in one request. If `meant` is set, verifies the disks first.
  Step<Inspection> inspect(const adapters::LinuxAdapter& filesystem, const InspectOptions& options,
                           const std::optional<DiskIdentity>& meant = std::nullopt,
                           Pace pace = Pace::as_booted);
  /// Inspects like inspect(), but with one request for each step. Use it for a file system that a
  /// program mounts, or to learn when the first mount has ended. Calls `on_mount` with true if that
  /// mount succeeded; an error of `on_mount` ends the inspection.
  Step<Inspection> inspect_in_steps(const adapters::LinuxAdapter& filesystem, bool again,
                                    const std::function<Step<void>(bool)>& on_mount = {});
  /// Returns the kernel log at all levels since the previous call or inspection.
  Step<std::string> kernel_log();

 private:
  tl::expected<nlohmann::json, vm::CallError> ask(const nlohmann::json& request,
                                                  std::chrono::milliseconds timeout,
                                                  const vm::EventHandler& on_event = {});
  Step<bool> mount_by_command(const adapters::LinuxAdapter& filesystem, std::string* why);
  tl::unexpected<oracle::Judgement> failed(const std::string& what, const vm::CallError& error);

  vm::Guest& guest_;
  std::chrono::milliseconds timeout_;
  const std::atomic<bool>* interrupted_;
};

/// run_request() returns the request that run() sends, for callers that also watch other events
/// (vm::Guest::send). failed_operation_of() returns the skipped or partial operation that an event
/// reports, for the oracle.
nlohmann::json run_request(const std::vector<workload::Operation>& operations);
std::optional<workload::FailedOperation> failed_operation_of(const nlohmann::json& event);
/// Returns the operation that ended the run, and its error, if the event reports one.
std::optional<std::string> failure_of(const nlohmann::json& event,
                                      std::span<const workload::Operation> operations);

/// Returns 32 hexadecimal digits derived from `seed`, for set_clock().
std::string seed_digits(std::uint64_t seed);

}  // namespace headcrash::run
