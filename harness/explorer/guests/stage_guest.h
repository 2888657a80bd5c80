#pragma once
// A guest with one stage of a state server attached, which examines one crash state after another.
//
//   StateServer stage/N     --NBD--> /dev/vda    load(state): switched while nothing is mounted
//               mark/N      --NBD--> /dev/vdb    nonce read through O_DIRECT, marks written
//               stage/N/log --NBD--> /dev/vdc    if the log has a separate disk: switched with vda
//
// After a hang, an oops, a refused unmount or any doubt, the guest is discarded and a fresh one is
// restored from the saved state (0.15 to 0.7 s), transparently to the caller.

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
  std::uint64_t log_bytes = 0;  ///< size of a disk for the log; 0 if none
  std::filesystem::path cache;  ///< saved guest states
  std::chrono::milliseconds step_timeout = std::chrono::seconds(60);
  /// Aborts requests to the guest at once; must outlive the guest.
  const std::atomic<bool>* interrupted = nullptr;
};

class StageGuest {
 public:
  /// Starts a guest. The server must outlive it. `scratch` is an existing folder for this guest.
  /// Fails only on errors that a retry would not avoid.
  static Result<std::unique_ptr<StageGuest>> start(device::StateServer& server, std::size_t stage,
                                                   const StageGuestOptions& options,
                                                   const std::filesystem::path& scratch);
  ~StageGuest();

  /// Loads a state. The next request verifies that the guest sees it. Restores a fresh guest first
  /// if requested, or if the last one is not trusted. `load.stage` and `load.machine` are
  /// overwritten with this guest's. A machine that does not start is the verdict `unmountable`.
  run::Step<device::LoadedStage> load(const device::StageLoad& load, bool fresh_guest = false);

  /// Sets the machine from the next load() on. Its size must equal that of the guest's disk.
  void set_machine(StageMachine machine);
  const StageMachine& machine() const;

  /// Sets the cache mode that the guest's kernel assumes: it sends flushes only to write-back
  /// disks. A fresh guest assumes write-back. Without SetDisks::all, a log's disk is unchanged.
  enum class SetDisks { all, data };
  run::Step<void> set_write_through(bool write_through, SetDisks disks = SetDisks::all);

  // The following have the contracts of GuestSession. After a failure, the next load() restores a
  // fresh guest.
  run::Step<run::GuestOutcome> exec(const std::vector<std::string>& argv);
  run::Step<bool> mount(const adapters::LinuxAdapter& filesystem, std::string* why = nullptr);
  run::Step<void> unmount();
  run::Step<run::RunOutcome> run(const std::vector<workload::Operation>& operations,
                                 std::span<const workload::FailedOperation> earlier = {});
  run::Step<std::vector<oracle::ObservedObject>> dump();
  run::Step<void> put(const std::string& path, const std::string& text);
  run::Step<run::RunOutcome> run_application(const workload::Application& application);
  run::Step<oracle::VerifierEnd> verify_application(const std::vector<std::string>& argv,
                                                    const std::string& input);
  run::Step<run::Inspection> inspect(const adapters::LinuxAdapter& filesystem,
                                     const run::InspectOptions& options);

  /// Recovers and mounts as a boot does. If the kernel cannot replay or refuses, the adapter's
  /// replay command runs first. Returns false if the kernel refused, with its error in `why`. `log`
  /// receives the commands and their output.
  run::Step<bool> recover_and_mount(const adapters::LinuxAdapter& filesystem, std::string& why,
                                    std::string& log);

  /// Copies the current content of the stage, which must not be mounted.
  Result<base::Descriptor> copy_stage();
  /// Writes the differences between `copy`, a copy of the whole disk, and `image`, the loaded
  /// state, to the stage. Must precede the first request after load(). After an error the state
  /// must be loaded again.
  Result<void> change_stage(const states::StateImage& image, const base::Descriptor& copy);

  device::StateServer& server();
  std::size_t stage() const;
  device::StageLoad empty_disks() const;  ///< loads empty disks of the sizes that the guest sees
  std::optional<std::string> damage_message()
      const;                     ///< the file system's messages about damage since load()
  std::size_t restores() const;  ///< number of guests used so far

 private:
  struct State;
  explicit StageGuest(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace headcrash::explorer
