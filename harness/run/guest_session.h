#pragma once
// Sends requests to the agent of a guest, and classifies failures:
//
//   kernel reported a crash      guest_died, whatever else happened
//   agent refused                refused (or, for mount, an answer)
//   no answer in time            timeout
//   QEMU exited                  guest_died
//   user interrupted             interrupted, at once
//
// oracle::verdict_of() has the verdict of each kind.
//
// The explorer's stages (stage_guest.h) and the trials of campaigns use this class.

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
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
#include "plugin/base/json_socket.h"

namespace headcrash::run {

/// Returns an error that ends the current work. `why` may contain guest output; unprintable
/// characters are replaced.
tl::unexpected<Error> stop(ErrorKind kind, const std::string& why);
/// Adds a hint to a harness error about installing the missing tool, because such an error means
/// that the agent could not start it.
template <typename T>
Result<T> with_tool_remedy(Result<T> outcome, const adapters::LinuxAdapter& filesystem) {
  if (outcome || oracle::verdict_of(outcome.error().kind) != oracle::Verdict::harness_error)
    return outcome;
  std::string& hint = outcome.error().hint;
  hint += (hint.empty() ? "" : "; ") + adapters::missing_tool_hint(filesystem);
  return outcome;
}

struct GuestOutcome {
  int exit_code = 0;
  std::string output;  ///< standard output, then standard error
  /// Number of bytes at the start of `output` that are standard output.
  std::size_t standard = 0;
  double wall_ms = 0;  ///< elapsed time on the guest's clock
  std::string out() const { return output.substr(0, standard); }
};

struct RunOutcome {
  std::size_t done = 0;  ///< number of operations executed
  std::vector<workload::FailedOperation> failed_operations;
  std::optional<std::string> failure;  ///< the operation that broke a promise, and how
};

/// Identifies the loaded disk: its size, and a nonce on the disk for marks that changes with each
/// load.
struct DiskIdentity {
  std::uint64_t bytes = 0;
  std::string nonce;
  std::vector<adapters::OtherDisk> others;  ///< the disks after kStageMarks, in order
  bool write_through = false;               ///< the guest sends no flushes to the disk
  bool others_write_through = false;        ///< the guest sends no flushes to the other disks
  static std::string_view write_cache(bool through) {
    return through ? "write through" : "write back";
  }
};

/// The result of one mount, dump and unmount.
struct MountCycle {
  bool mounted = false;
  std::string refusal;  ///< the kernel's error if the file system was not mounted
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
  std::string log;  ///< kernel log since the previous inspection or kernel_log() call
};

/// The kernel's text about the writes and flushes that it submitted, with stacks.
struct WriteTrace {
  std::string text;                            ///< harness/guest/block_trace.h
  std::map<std::string, std::string> devices;  ///< number of each block device: "vda", "254,0"
};

/// Optional parts of an inspection.
struct InspectOptions {
  bool again = false;  ///< mounts a second time
  /// After the last dump, creates new names and removes everything (harness/guest/use.h). Not for
  /// file systems that a program mounts.
  bool use = false;
};

/// The settings for the guest's disks. `quick` bypasses the guest's I/O scheduler and omits
/// flushes. It must be used only if nothing is recorded (PROTOCOL.md).
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

  /// Aborts requests that are still pending at this time; nullopt for no limit. The kind of the
  /// error is `interrupted`.
  void give_up_at(std::optional<base::Deadline> deadline) { give_up_at_ = deadline; }

  Result<nlohmann::json> call(const nlohmann::json& request, const vm::EventHandler& on_event = {});

  /// Sets the wall clock and the seed of the guest's random generators.
  Result<void> set_clock(const std::string& seed_hex);
  /// Drops cached pages, then verifies that the guest sees the disks that the server currently
  /// exports.
  Result<void> verify_disks(const DiskIdentity& meant);

  Result<GuestOutcome> exec(const std::vector<std::string>& argv);
  /// Mounts the file system. If the kernel refuses, stores its error in `why` and returns false.
  Result<bool> mount(const adapters::LinuxAdapter& filesystem, std::string* why = nullptr);
  Result<void> unmount();
  /// Runs operations and writes marks to the second disk. `earlier` lists operations in preceding
  /// parts of the same workload that were skipped or partial.
  Result<RunOutcome> run(const std::vector<workload::Operation>& operations,
                         std::span<const workload::FailedOperation> earlier = {});
  /// Stores a file in the guest's memory (PROTOCOL.md, `put`).
  Result<void> put(const std::string& path, const std::string& text);
  /// Runs the application's `run` commands to their end, and writes marks to the second disk. The
  /// result's `failure` describes a failed command.
  Result<RunOutcome> run_application(const workload::Application& application);
  /// Runs one `verify` command with the persisted texts as its input.
  Result<oracle::VerifierEnd> verify_application(const std::vector<std::string>& argv,
                                                 const std::string& input);
  Result<std::vector<oracle::ObservedObject>> dump();
  /// Inspects the file system in one request. If `meant` is set, verifies the disks first.
  Result<Inspection> inspect(const adapters::LinuxAdapter& filesystem,
                             const InspectOptions& options,
                             const std::optional<DiskIdentity>& meant = std::nullopt,
                             Pace pace = Pace::as_booted);
  /// Like inspect(), but with one request for each step. For a file system that a program mounts,
  /// or to learn when the first mount has ended. Calls `on_mount` with true if that mount
  /// succeeded; an error from `on_mount` ends the inspection.
  Result<Inspection> inspect_in_steps(const adapters::LinuxAdapter& filesystem, bool again,
                                      const std::function<Result<void>(bool)>& on_mount = {});
  /// Starts a trace of the writes and flushes that the kernel submits. Fails with `unsupported` if
  /// the kernel cannot trace them.
  Result<void> start_trace();
  /// Ends the trace and returns it.
  Result<WriteTrace> stop_trace();
  /// Returns the kernel log at all levels since the previous call or inspection.
  Result<std::string> kernel_log();

 private:
  Result<nlohmann::json> ask(const nlohmann::json& request, std::chrono::milliseconds timeout,
                             const vm::EventHandler& on_event = {});
  Result<bool> mount_by_command(const adapters::LinuxAdapter& filesystem, std::string* why);
  tl::unexpected<Error> failed(const std::string& what, const Error& error);

  vm::Guest& guest_;
  std::chrono::milliseconds timeout_;
  const std::atomic<bool>* interrupted_;
  std::optional<base::Deadline> give_up_at_;
};

/// run_request() returns the request that run() sends, for callers that also handle other events
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
