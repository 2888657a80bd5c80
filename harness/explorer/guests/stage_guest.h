#pragma once
// A guest with one stage of a state server attached. It examines one crash state after another.
//
//   StateServer stage/N      --NBD--> /dev/vda    load() switches it; not while mounted
//               mark/N       --NBD--> /dev/vdb    nonce read through O_DIRECT, marks written
//               stage/N/NAME --NBD--> /dev/vdc    other disks (a log, members of a stack), which
//                                                 are switched together with vda
//
// After a hang, an oops, a refused unmount or any doubt, the guest is discarded, and a fresh one is
// restored from the saved state (0.15 to 0.7 s). This is transparent to the caller.

#include <atomic>
#include <filesystem>
#include <memory>

#include "harness/device/state_server.h"
#include "harness/explorer/guests/stage_machine.h"
#include "harness/run/guest_session.h"
#include "plugin/base/descriptor.h"
#include "plugin/states/state_image.h"

namespace headcrash::explorer {

struct StageGuestOptions {
  vm::GuestImage image;
  vm::Accelerator accelerator = vm::Accelerator::tcg;
  std::uint32_t memory_mib = 384;
  std::uint64_t disk_bytes = 0;
  std::vector<adapters::OtherDisk> others = {};  ///< disks after the first one
  std::filesystem::path cache;                   ///< directory with saved guest states
  std::chrono::milliseconds step_timeout = std::chrono::seconds(60);
  /// Flag that aborts pending requests to the guest at once when it becomes true. Must outlive the
  /// guest.
  const std::atomic<bool>* interrupted = nullptr;
};

class StageGuest {
 public:
  /// Starts a guest. `server` must outlive it. `scratch` is an existing directory that only this
  /// guest uses. Fails only for errors that would recur on a retry.
  static Result<std::unique_ptr<StageGuest>> start(device::StateServer& server, std::size_t stage,
                                                   const StageGuestOptions& options,
                                                   const std::filesystem::path& scratch);
  ~StageGuest();

  /// Loads a state. If `fresh_guest` is true or the current guest is not trusted, first restores a
  /// fresh guest. The next request verifies that the guest sees this state. Ignores `load.stage`
  /// and `load.machine`, and uses the guest's own stage and machine instead. If the machine does
  /// not start, the error is `unmountable`.
  Result<device::LoadedStage> load(const device::StageLoad& load, bool fresh_guest = false);

  /// Sets the time at which pending requests to the guest are aborted; nullopt for no limit. The
  /// limit also applies to guests that are restored later.
  void give_up_at(std::optional<base::Deadline> deadline);

  /// Sets the guest's wall clock ahead by this time, also in guests that are restored later. The
  /// times that a recovery stores are then later than those of the recorded run, as after a real
  /// power cut. Otherwise, all guests in virtual time begin at the same time of day.
  Result<void> set_clock_ahead(std::chrono::seconds ahead);

  /// Sets the machine for the following calls of load(). The machine's disk must be as large as the
  /// guest's disk.
  void set_machine(StageMachine machine);
  const StageMachine& machine() const;

  /// Selects the disks that set_write_through() changes: all disks, or only the first one.
  enum class SetDisks { all, data };
  /// Sets the cache mode that the guest's kernel assumes for its disks. The kernel sends flushes
  /// only to write-back disks. A fresh guest assumes write-back.
  Result<void> set_write_through(bool write_through, SetDisks disks = SetDisks::all);

  /// Creates the file system's stack of block devices on empty disks. Does nothing if the file
  /// system has no stack.
  Result<void> create_stack(const adapters::LinuxAdapter& filesystem, const std::string& uuid);
  /// Selects the disks of a stack. `before_workload`: all disks are present, and the stack's
  /// `degrade` runs last. `after_cut`: the disks that the stack declares absent are missing.
  enum class Assembly { before_workload, after_cut };
  /// Assembles the file system's stack on the loaded disks. Does nothing if the file system has no
  /// stack. If the command fails, the error is `unmountable` and contains the command's output.
  Result<void> assemble_stack(const adapters::LinuxAdapter& filesystem, Assembly assembly);
  /// Stops the stack if one is assembled. load() does the same, and discards the guest if the stack
  /// cannot be stopped.
  Result<void> stop_stack();

  // The following functions do the same as those of GuestSession. If one of them fails, the next
  // call of load() restores a fresh guest.
  Result<run::GuestOutcome> exec(const std::vector<std::string>& argv);
  Result<bool> mount(const adapters::LinuxAdapter& filesystem, std::string* why = nullptr);
  Result<void> unmount();
  Result<run::RunOutcome> run(const std::vector<workload::Operation>& operations,
                              std::span<const workload::FailedOperation> earlier = {});
  Result<std::vector<oracle::ObservedObject>> dump();
  Result<void> start_trace();
  Result<run::WriteTrace> stop_trace();
  Result<void> put(const std::string& path, const std::string& text);
  Result<run::RunOutcome> run_application(const workload::Application& application);
  Result<oracle::VerifierEnd> verify_application(const std::vector<std::string>& argv,
                                                 const std::string& input);
  Result<run::Inspection> inspect(const adapters::LinuxAdapter& filesystem,
                                  const run::InspectOptions& options);

  /// Recovers and mounts the file system as an operating system does when it boots. If the kernel
  /// cannot replay the log or refuses to mount, runs the adapter's replay command first. If the
  /// kernel still refuses, returns false and stores the kernel's error in `why`. Appends the
  /// commands and their output to `log`.
  Result<bool> recover_and_mount(const adapters::LinuxAdapter& filesystem, std::string& why,
                                 std::string& log);

  /// Copies the stage's current contents. The stage must not be mounted during the copy.
  Result<base::Descriptor> copy_stage();
  /// Writes the changes in `copy` to the stage. `copy` is a changed copy of the whole disk, and
  /// `image` is the state that was loaded. Must be called after load() and before the first request
  /// to the guest. After an error, the caller must load the state again.
  Result<void> change_stage(const states::StateImage& image, const base::Descriptor& copy);

  device::StateServer& server();
  std::size_t stage() const;
  /// Returns a request that loads empty disks of the sizes that the guest expects.
  device::StageLoad empty_disks() const;
  /// Returns a message about damage that the file system has reported since load(), or
  /// nullopt.
  std::optional<std::string> damage_message() const;
  std::size_t restores() const;  ///< number of guests used so far

 private:
  struct State;
  explicit StageGuest(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace headcrash::explorer
