#pragma once
// Sends requests to the agent of a guest, and classifies failures by kinds of errors:
//
//   kernel reported a crash      guest_died, whatever else happened
//   agent refused                refused (but a refused mount is a normal result)
//   no answer in time            timeout
//   QEMU exited                  guest_died
//   user interrupted             interrupted, at once
//
// oracle::verdict_of() returns the verdict for each kind.
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

/// Returns an error whose text `why` contains output of the guest: like fail(), but replaces the
/// unprintable characters in it.
tl::unexpected<Error> stop(ErrorKind kind, const std::string& why);
/// Adds the hint to install the missing tool if the outcome is a harness error, which means that
/// the agent could not start a program.
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
  /// Number of bytes at the start of `output` that come from standard output.
  std::size_t standard = 0;
  double wall_ms = 0;  ///< elapsed time according to the guest's clock
  std::string out() const { return output.substr(0, standard); }
};

struct RunOutcome {
  std::size_t done = 0;  ///< number of operations that were executed
  std::vector<workload::FailedOperation> failed_operations;
  /// The operation that failed unexpectedly and ended the run, with its error.
  std::optional<std::string> failure;
};

/// Identifies a loaded disk by its size and by a nonce on the disk for marks. Each load has a
/// different nonce.
struct DiskIdentity {
  std::uint64_t bytes = 0;
  std::string nonce;
  std::vector<adapters::OtherDisk> others;  ///< the disks that follow kStageMarks, in device order
  /// The guest assumes a write-through disk and sends no flushes.
  bool write_through = false;
  bool others_write_through = false;  ///< as `write_through`, for the disks in `others`
  static std::string_view write_cache(bool through) {
    return through ? "write through" : "write back";
  }
};

/// The result of one mount, dump and unmount.
struct MountCycle {
  bool mounted = false;
  std::string refusal;  ///< the kernel's error if it refused the mount
  double mount_ms = 0, dump_ms = 0, unmount_ms = 0;
};

/// The result of an inspection: one mount cycle, and a second one if requested.
struct Inspection {
  double verify_ms = 0;  ///< time for dropping cached pages and verifying the disk's size and nonce
  MountCycle first;
  std::vector<oracle::ObservedObject> tree;
  std::optional<MountCycle> again;
  std::string difference;  ///< first difference between the trees of the two mounts; empty if equal
  /// The error that occurred while the file system was used after the last mount cycle. Empty if no
  /// error occurred or the file system was not used.
  std::string unusable;
  double use_ms = 0;
  std::string log;  ///< kernel log since the last inspection or call of kernel_log()
};

/// A trace of the writes and flushes that the kernel submitted, with the stack of each one.
struct WriteTrace {
  std::string text;  ///< harness/guest/block_trace.h
  /// Maps the name of a block device, such as "vda", to its number, such as "254,0".
  std::map<std::string, std::string> devices;
};

struct InspectOptions {
  bool again = false;  ///< repeat the mount cycle
  /// If true, the guest tests the file system after the last dump: it creates new objects, and then
  /// removes everything (harness/guest/use.h). Not supported if a command mounts the file system,
  /// as with FUSE.
  bool use = false;
};

/// How the guest's disks are set. With `quick`, the guest bypasses its I/O scheduler and sends no
/// flushes; do not use `quick` while requests are recorded (PROTOCOL.md).
enum class Pace : std::uint8_t { as_booted, quick };

/// Maximum number of objects in a tree that the agent reports. The agent has the same limit
/// (harness/guest/dump.h).
inline constexpr std::size_t kTreeObjectsMost = 1'000'000;

inline constexpr const char* kStageDisk = "/dev/vda";
/// Returns the device of the guest that contains the file system: its stack, or kStageDisk.
std::string mounted_device(const adapters::LinuxAdapter& filesystem);
inline constexpr const char* kStageMarks = "/dev/vdb";
inline constexpr const char* kStageLog = "/dev/vdc";
inline constexpr const char* kMountPoint = "/mnt";

/// Returns an adapter's command in which placeholders are replaced with the guest's devices and
/// directories.
std::vector<std::string> in_guest(const std::vector<std::string>& argv, std::string_view uuid = {});

class GuestSession {
 public:
  /// `guest` and `interrupted` must outlive this object. `interrupted` may be null.
  GuestSession(vm::Guest& guest, std::chrono::milliseconds step_timeout,
               const std::atomic<bool>* interrupted = nullptr)
      : guest_(guest), timeout_(step_timeout), interrupted_(interrupted) {}

  /// Sets the time at which pending requests are aborted; nullopt for no limit. An aborted request
  /// fails with the kind `interrupted`.
  void give_up_at(std::optional<base::Deadline> deadline) { give_up_at_ = deadline; }

  Result<nlohmann::json> call(const nlohmann::json& request, const vm::EventHandler& on_event = {});

  /// Sets the guest's wall clock to the time of day plus `ahead`, and seeds its random number
  /// generators.
  Result<void> set_clock(const std::string& seed_hex, std::chrono::nanoseconds ahead = {});
  /// Drops cached pages, then verifies that the guest sees the disks that the server currently
  /// exports.
  Result<void> verify_disks(const DiskIdentity& meant);

  Result<GuestOutcome> exec(const std::vector<std::string>& argv);
  /// Mounts the file system. If the kernel refuses, returns false and stores the kernel's error in
  /// `why`.
  Result<bool> mount(const adapters::LinuxAdapter& filesystem, std::string* why = nullptr);
  Result<void> unmount();
  /// Runs operations and writes marks to the second disk. `earlier` lists the skipped and partial
  /// operations in earlier parts of the same workload.
  Result<RunOutcome> run(const std::vector<workload::Operation>& operations,
                         std::span<const workload::FailedOperation> earlier = {});
  /// Stores a file in the guest's memory (PROTOCOL.md, `put`).
  Result<void> put(const std::string& path, const std::string& text);
  /// Runs the application's `run` commands to their end, and writes marks to the second disk. If a
  /// command fails, the result's `failure` describes it.
  Result<RunOutcome> run_application(const workload::Application& application);
  /// Runs one `verify` command. `input` contains the texts of the marks and becomes the command's
  /// standard input.
  Result<oracle::VerifierEnd> verify_application(const std::vector<std::string>& argv,
                                                 const std::string& input);
  Result<std::vector<oracle::ObservedObject>> dump();
  /// Inspects the file system in a single request. If `meant` is set, first verifies the disks.
  Result<Inspection> inspect(const adapters::LinuxAdapter& filesystem,
                             const InspectOptions& options,
                             const std::optional<DiskIdentity>& meant = std::nullopt,
                             Pace pace = Pace::as_booted);
  /// Like inspect(), but sends one request for each step. Needed if the file system is mounted by a
  /// command, or if the caller must know when the first mount is complete. After the first mount,
  /// calls `on_mount` with true if the mount succeeded. An error from `on_mount` ends the
  /// inspection.
  Result<Inspection> inspect_in_steps(const adapters::LinuxAdapter& filesystem, bool again,
                                      const std::function<Result<void>(bool)>& on_mount = {});
  /// Starts a trace of the writes and flushes that the kernel submits. Fails with `unsupported` if
  /// the kernel cannot trace them.
  Result<void> start_trace();
  Result<WriteTrace> stop_trace();
  /// Returns the messages of all levels that the kernel has logged since the last kernel_log() or
  /// inspect().
  Result<std::string> kernel_log();

 private:
  Result<nlohmann::json> ask(const nlohmann::json& request, std::chrono::milliseconds timeout,
                             const vm::EventHandler& on_event = {});
  Result<bool> mount_by_command(const adapters::LinuxAdapter& filesystem, std::string* why);
  Result<void> unmount_below();
  tl::unexpected<Error> failed(const std::string& what, const Error& error);

  vm::Guest& guest_;
  std::chrono::milliseconds timeout_;
  const std::atomic<bool>* interrupted_;
  std::optional<base::Deadline> give_up_at_;
  // From the adapter of the file system that was mounted last.
  adapters::GuestCommand after_unmount_;
  bool is_layer_ = false;
};

/// The parts of run(), for callers that must handle other events as well (vm::Guest::send).
/// run_request() returns the request to send. failed_operation_of() returns the skipped or partial
/// operation that an event reports.
nlohmann::json run_request(const std::vector<workload::Operation>& operations);
std::optional<workload::FailedOperation> failed_operation_of(const nlohmann::json& event);
/// Returns the operation that ended the run, with its error, as text. Returns nullopt if the event
/// does not report such an operation.
std::optional<std::string> failure_of(const nlohmann::json& event,
                                      std::span<const workload::Operation> operations);

/// Derives 32 hexadecimal digits from `seed`, for use with set_clock().
std::string seed_digits(std::uint64_t seed);

}  // namespace headcrash::run
