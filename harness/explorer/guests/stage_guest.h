#pragma once
// A guest with one stage of a state server attached, which examines one crash state after another.
//
//   StateServer stage/N     --NBD--> /dev/vda    load(state): switched while nothing is mounted
//               mark/N      --NBD--> /dev/vdb    nonce read through O_DIRECT, marks written
//               stage/N/NAME --NBD--> /dev/vdc   other disks (a log, members of a stack): switched
//                                                with vda
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
  std::vector<adapters::OtherDisk> others = {};  ///< disks after the first one
  std::filesystem::path cache;                   ///< saved guest states
  std::chrono::milliseconds step_timeout = std::chrono::seconds(60);
  /// Set to true to abort pending requests to the guest at once. Must outlive the guest.
  const std::atomic<bool>* interrupted = nullptr;
};

class StageGuest {
 public:
  /// Starts a guest. The server must outlive the guest. `scratch` is an existing folder for this
  /// guest only. Fails only for errors that would recur on a retry.
  static Result<std::unique_ptr<StageGuest>> start(device::StateServer& server, std::size_t stage,
                                                   const StageGuestOptions& options,
                                                   const std::filesystem::path& scratch);
  ~StageGuest();

  /// Loads a state. The next request verifies that the guest sees it. First restores a fresh guest
  /// if `fresh_guest` is true or the current guest is not trusted. `load.stage` and `load.machine`
  /// are replaced with those of this guest. If the machine does not start, the verdict is
  /// `unmountable`.
  Result<device::LoadedStage> load(const device::StageLoad& load, bool fresh_guest = false);

  /// Aborts requests to the guest that are still pending at this time; nullopt for no limit. Also
  /// applies to fresh guests.
  void give_up_at(std::optional<base::Deadline> deadline);

  /// Sets the machine for the following calls of load(). Its size must equal that of the guest's
  /// disk.
  void set_machine(StageMachine machine);
  const StageMachine& machine() const;

  /// The disks to which set_write_through() applies. `data` excludes the other disks.
  enum class SetDisks { all, data };
  /// Sets the cache mode that the guest's kernel assumes. The kernel sends flushes only to
  /// write-back disks. A fresh guest assumes write-back.
  Result<void> set_write_through(bool write_through, SetDisks disks = SetDisks::all);

  /// Creates the file system's stack on empty disks. Does nothing if it has none.
  Result<void> create_stack(const adapters::LinuxAdapter& filesystem, const std::string& uuid);
  /// `before_workload`: all disks are there, and then the stack's `degrade` runs. `after_cut`: its
  /// absent disks are missing.
  enum class Assembly { before_workload, after_cut };
  /// Assembles the file system's stack on the loaded disks. Does nothing if it has none. If the
  /// command fails, the error is `unmountable` and contains its output.
  Result<void> assemble_stack(const adapters::LinuxAdapter& filesystem, Assembly assembly);
  /// Stops the assembled stack, if any. load() does this, too, and discards the guest on failure.
  Result<void> stop_stack();

  // The following functions are those of GuestSession. After one has failed, the next load()
  // restores a fresh guest.
  Result<run::GuestOutcome> exec(const std::vector<std::string>& argv);
  Result<bool> mount(const adapters::LinuxAdapter& filesystem, std::string* why = nullptr);
  Result<void> unmount();
  Result<run::RunOutcome> run(const std::vector<workload::Operation>& operations,
                              std::span<const workload::FailedOperation> earlier = {});
  Result<std::vector<oracle::ObservedObject>> dump();
  Result<void> put(const std::string& path, const std::string& text);
  Result<run::RunOutcome> run_application(const workload::Application& application);
  Result<oracle::VerifierEnd> verify_application(const std::vector<std::string>& argv,
                                                 const std::string& input);
  Result<run::Inspection> inspect(const adapters::LinuxAdapter& filesystem,
                                  const run::InspectOptions& options);

  /// Recovers and mounts the file system as a boot does. If the kernel cannot replay the log or
  /// refuses to mount, the adapter's replay command runs first. Returns false if the kernel
  /// refused, and stores its error in `why`. Appends the commands and their output to `log`.
  Result<bool> recover_and_mount(const adapters::LinuxAdapter& filesystem, std::string& why,
                                 std::string& log);

  /// Copies the stage's current contents. The stage must not be mounted.
  Result<base::Descriptor> copy_stage();
  /// Writes the differences between `copy` and `image` to the stage. `image` is the loaded state,
  /// and `copy` is a changed copy of the whole disk. Must be called before the first request after
  /// load(). After an error, the state must be loaded again.
  Result<void> change_stage(const states::StateImage& image, const base::Descriptor& copy);

  device::StateServer& server();
  std::size_t stage() const;
  /// Returns a request that loads empty disks with the sizes that the guest assumes.
  device::StageLoad empty_disks() const;
  /// Returns the file system's messages about damage since load().
  std::optional<std::string> damage_message() const;
  std::size_t restores() const;  ///< number of guests used so far

 private:
  struct State;
  explicit StageGuest(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace headcrash::explorer
