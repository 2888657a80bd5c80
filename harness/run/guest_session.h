#pragma once
// What every driver of a guest does with it: requests to the agent, whose failures are
// distinguished once and for all.
//
//   the kernel said why          oops, whatever else
//   the agent refuses            harness error (or, for mount, an answer)
//   no answer in time            hang
//   QEMU is gone                 oops
//   the user has interrupted     harness error, "interrupted", at once
//
// The crash lab's stages (stage_guest.h) and a campaign's trials are driven through this.

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

/// Continues, or ends the work at hand with this judgement: hang, oops, harness error.
template <typename T>
using Step = tl::expected<T, oracle::Judgement>;

/// `why` may have what a guest printed: it is made printable.
tl::unexpected<oracle::Judgement> stop(oracle::Verdict verdict, const std::string& why);
tl::unexpected<oracle::Judgement> broken(const Error& error);
Step<void> as_step(const Result<void>& result);
/// What the agent refuses to run is not in the guest: the error also says how it gets there.
template <typename T>
Step<T> with_tool_remedy(Step<T> outcome, const adapters::LinuxAdapter& filesystem) {
  if (!outcome && outcome.error().verdict == oracle::Verdict::harness_error)
    outcome.error().summary += "; " + adapters::missing_tool_hint(filesystem);
  return outcome;
}

struct GuestOutcome {
  int exit_code = 0;
  std::string output;        ///< standard output, then standard error
  std::size_t standard = 0;  ///< so much of it is standard output
  double wall_ms = 0;        ///< by the guest's clock
  std::string out() const { return output.substr(0, standard); }
};

struct RunOutcome {
  std::size_t done = 0;  ///< operations
  std::vector<workload::FailedOperation> failed_operations;
  std::optional<std::string> failure;  ///< an operation failed: the file system broke its word
};

/// What the stage holds: its size, and the nonce on the disk for marks, which each load changes.
struct DiskIdentity {
  std::uint64_t bytes = 0;
  std::string nonce;
  std::uint64_t log_bytes = 0;     ///< of kStageLog; 0: there is none
  bool write_through = false;      ///< the guest was set to send no flushes to the disk
  bool log_write_through = false;  ///< the same for kStageLog
  static std::string_view write_cache(bool through) {
    return through ? "write through" : "write back";
  }
};

/// One mount, dump and unmount.
struct Look {
  bool mounted = false;
  std::string refusal;  ///< the kernel's, when not mounted
  double mount_ms = 0, dump_ms = 0, unmount_ms = 0;
};

/// A look, and another one when asked for, in one request.
struct Inspection {
  double verify_ms = 0;  ///< of dropping cached pages and looking at size and nonce
  Look first;
  std::vector<oracle::ObservedObject> tree;
  std::optional<Look> again;
  std::string difference;  ///< between the two trees; empty: none
  std::string
      /// what was refused when it was used after the last look; empty: nothing, or it was not
      unusable;
  double use_ms = 0;
  std::string log;  ///< the kernel's, since the last inspection or kernel_log()
};

/// What an inspection does besides looking.
struct InspectOptions {
  bool again = false;  ///< it mounts twice
  /// After the last look it makes new names, and removes everything (harness/guest/use.h). Not for
  /// what a program mounts.
  bool use = false;
};

/// Quick: without the guest's scheduler and without flushes, where nothing is recorded
/// (PROTOCOL.md).
enum class Pace : std::uint8_t { as_booted, quick };

/// Objects of a tree that a guest may report; the agent's own limit (harness/guest/dump.h).
inline constexpr std::size_t kTreeObjectsMost = 1'000'000;

inline constexpr const char* kStageDisk = "/dev/vda";
inline constexpr const char* kStageMarks = "/dev/vdb";
inline constexpr const char* kStageLog = "/dev/vdc";
inline constexpr const char* kMountPoint = "/mnt";

/// An adapter's command as it is run in a guest: these devices and folders for its places.
std::vector<std::string> in_guest(const std::vector<std::string>& argv, std::string_view uuid = {});

class GuestSession {
 public:
  /// The guest must outlive this, and so must `interrupted`, which may be absent.
  GuestSession(vm::Guest& guest, std::chrono::milliseconds step_timeout,
               const std::atomic<bool>* interrupted = nullptr)
      : guest_(guest), timeout_(step_timeout), interrupted_(interrupted) {}

  Step<nlohmann::json> call(const nlohmann::json& request, const vm::EventHandler& on_event = {});

  /// Wall clock and seed of the random generators.
  Step<void> set_clock(const std::string& seed_hex);
  /// Drops cached pages, then compares: the guest sees what the server has, and nothing older.
  Step<void> verify_disks(const DiskIdentity& meant);

  Step<GuestOutcome> exec(const std::vector<std::string>& argv);
  /// False: the kernel refused; its words are in `why`.
  Step<bool> mount(const adapters::LinuxAdapter& filesystem, std::string* why = nullptr);
  Step<void> unmount();
  /// Marks go to the second disk. `earlier`: failed_operations of the parts of the same workload
  /// before this one.
  Step<RunOutcome> run(const std::vector<workload::Operation>& operations,
                       std::span<const workload::FailedOperation> earlier = {});
  /// A file in the guest's memory (PROTOCOL.md, `put`).
  Step<void> put(const std::string& path, const std::string& text);
  /// Its `run` to the end, its marks to the second disk. What it cannot do is in `failure`.
  Step<RunOutcome> run_application(const workload::Application& application);
  /// One command of its `verify`, given what was persistent.
  Step<oracle::VerifierEnd> verify_application(const std::vector<std::string>& argv,
                                               const std::string& told);
  Step<std::vector<oracle::ObservedObject>> dump();
  /// `meant`: as verify_disks(), in the same request.
  Step<Inspection> inspect(const adapters::LinuxAdapter& filesystem, const InspectOptions& options,
                           const std::optional<DiskIdentity>& meant = std::nullopt,
                           Pace pace = Pace::as_booted);
  /// As inspect(), a request a step: for a file system that a program mounts, and for a caller that
  /// has to know when the first mount has ended (true: it is mounted). An error of `on_mount` ends
  /// it.
  Step<Inspection> inspect_in_steps(const adapters::LinuxAdapter& filesystem, bool again,
                                    const std::function<Step<void>(bool)>& on_mount = {});
  /// On every level, since the last call or inspection.
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

/// What run() sends, for whoever has to watch something else meanwhile (vm::Guest::send), and what
/// the events of it say of operations that were not done, or not wholly: they are the oracle's
/// business.
nlohmann::json run_request(const std::vector<workload::Operation>& operations);
std::optional<workload::FailedOperation> failed_operation_of(const nlohmann::json& event);
/// Of an operation that ended the run: which, and why.
std::optional<std::string> failure_of(const nlohmann::json& event,
                                      std::span<const workload::Operation> operations);

/// "3f00.." of 32 digits from a seed, for set_clock.
std::string seed_digits(std::uint64_t seed);

}  // namespace headcrash::run
