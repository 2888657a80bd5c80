#pragma once
// A guest with one stage of a state server attached, ready to look at one crash state after the other.
//
//   StateServer stage/N --NBD--> /dev/vda        load(state): switched while nothing is mounted
//               mark/N  --NBD--> /dev/vdb        nonce read through O_DIRECT, marks written
//
// After a hang, an oops, a refused unmount or any doubt the guest is thrown away and a fresh one restored
// from the saved state (0.15 to 0.7 s); the caller need not care.

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fs-adapters/linux/adapter.h"
#include "harness/crash/observed_tree.h"
#include "harness/crash/verdict.h"
#include "harness/device/state_server.h"
#include "harness/vm/guest.h"
#include "harness/workload/operation.h"

namespace headcrash::lab {

/// Goes on, or ends the work at hand with this judgement: hang, oops, harness error.
template <typename T>
using Step = tl::expected<T, crash::Judgement>;

struct GuestOutcome {
  int exit_code = 0;
  std::string output;  ///< standard output, then standard error
};

struct StageGuestOptions {
  vm::GuestImage image;
  vm::Accelerator accelerator = vm::Accelerator::tcg;
  std::uint32_t memory_mib = 384;
  std::uint64_t disk_bytes = 0;
  std::filesystem::path cache, scratch;  ///< saved guest states; existing folder of this guest's own
  std::chrono::seconds step_timeout{60};
};

class StageGuest {
 public:
  /// The server must outlive it. Errors are those that no other attempt would avoid.
  static Result<std::unique_ptr<StageGuest>> start(device::StateServer& server, std::size_t stage,
                                                   const StageGuestOptions& options);
  ~StageGuest();

  /// Puts a state under the guest and makes sure that it sees it. Restores a fresh guest first when told to,
  /// or when the last one cannot be trusted.
  Step<device::LoadedStage> load(const device::StageLoad& load, bool fresh_guest = false);

  Step<GuestOutcome> exec(const std::vector<std::string>& argv);
  /// False: the kernel refused; its words are in `why`.
  Step<bool> mount(const adapters::LinuxAdapter& filesystem, std::string* why = nullptr);
  Step<void> unmount();
  struct RunOutcome {
    std::size_t done = 0;  ///< operations
    std::vector<workload::Mishap> mishaps;
    std::optional<std::string> failure;  ///< an operation failed: the file system broke its word
  };
  Step<RunOutcome> run(const std::vector<workload::Operation>& operations);
  Step<std::vector<crash::ObservedObject>> dump();

  device::StateServer& server();
  std::size_t stage() const;
  std::optional<std::string> complaint() const;  ///< the file system's own words about damage, since load()
  std::string console_tail(std::size_t lines) const;
  std::size_t restores() const;  ///< guests used so far

 private:
  struct State;
  explicit StageGuest(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace headcrash::lab
