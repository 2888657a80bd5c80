#pragma once
// A guest with one stage of a state server attached, ready to look at one crash state after the
// other.
//
//   StateServer stage/N     --NBD--> /dev/vda    load(state): switched while nothing is mounted
//               mark/N      --NBD--> /dev/vdb    nonce read through O_DIRECT, marks written
//               stage/N/log --NBD--> /dev/vdc    where the log has a disk of its own: switched with vda
//
// After a hang, an oops, a refused unmount or any doubt the guest is thrown away and a fresh one
// restored from the saved state (0.15 to 0.7 s); the caller need not care.

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
  std::uint64_t log_bytes = 0;  ///< of a disk for the log; 0: there is none
  std::filesystem::path cache;  ///< saved guest states
  std::chrono::milliseconds step_timeout = std::chrono::seconds(60);
  const std::atomic<bool>* interrupted =
      nullptr;  ///< ends what a guest is asked, at once; outlives the guest
};

class StageGuest {
 public:
  /// The server must outlive it; `scratch` is an existing folder of this guest's own. Errors are
  /// those that no other attempt would avoid.
  static Result<std::unique_ptr<StageGuest>> start(device::StateServer& server, std::size_t stage,
                                                   const StageGuestOptions& options,
                                                   const std::filesystem::path& scratch);
  ~StageGuest();

  /// Puts a state under the guest; the first request after it makes sure that the guest sees it.
  /// Restores a fresh guest first when told to, or when the last one cannot be trusted.
  /// `load.stage` is this guest's own; so is `load.machine`. A machine that does not start is the
  /// verdict `unmountable`.
  run::Step<device::LoadedStage> load(const device::StageLoad& load, bool fresh_guest = false);

  /// From the next load() on. Its size must be the guest's disk's.
  void put_under(StageMachine machine);
  const StageMachine& machine() const;

  /// Sets what cache the guest's kernel believes the disks to have: it sends flushes to one that
  /// writes back only. A fresh guest writes back. Without SetDisks::all a log's disk is unchanged.
  enum class SetDisks { all, data };
  run::Step<void> set_write_through(bool write_through, SetDisks disks = SetDisks::all);

  // As GuestSession's; each failure makes the next load() begin with a fresh guest.
  run::Step<run::GuestOutcome> exec(const std::vector<std::string>& argv);
  run::Step<bool> mount(const adapters::LinuxAdapter& filesystem, std::string* why = nullptr);
  run::Step<void> unmount();
  run::Step<run::RunOutcome> run(const std::vector<workload::Operation>& operations,
                                 std::span<const workload::FailedOperation> earlier = {});
  run::Step<std::vector<oracle::ObservedObject>> dump();
  run::Step<void> put(const std::string& path, const std::string& text);
  run::Step<run::RunOutcome> run_application(const workload::Application& application);
  run::Step<oracle::VerifierEnd> verify_application(const std::vector<std::string>& argv,
                                                    const std::string& told);
  run::Step<run::Inspection> inspect(const adapters::LinuxAdapter& filesystem,
                                     const run::InspectOptions& options);

  /// As a boot does: a kernel that replays mounts; where it does not, or refuses, the adapter's
  /// replay command comes first. False: the kernel refused, its words are in `why`. `log`: what was
  /// run, and what it printed.
  run::Step<bool> recover_and_mount(const adapters::LinuxAdapter& filesystem, std::string& why,
                                    std::string& log);

  /// What the stage holds now; nothing of it may be mounted.
  Result<base::Descriptor> copy_stage();
  /// Before the first request after load(): puts what `copy`, of all of the disk, has and `image`,
  /// the state loaded, has not onto the stage. After an error the state has to be loaded again.
  Result<void> change_stage(const states::StateImage& image, const base::Descriptor& copy);

  device::StateServer& server();
  std::size_t stage() const;
  device::StageLoad empty_disks() const;  ///< a load of them, of the sizes that the guest sees
  std::optional<std::string> damage_message()
      const;                     ///< the file system's own words about damage, since load()
  std::size_t restores() const;  ///< guests used so far

 private:
  struct State;
  explicit StageGuest(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace headcrash::explorer
