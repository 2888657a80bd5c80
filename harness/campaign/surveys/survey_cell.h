#pragma once
// Starts a survey cell in a guest: the emulated drive, a guest on it, and a fresh file system.
//
// The drive is an hp-c2447 with its write cache on. The drive's clock is off until the cell turns
// it on.

#include <atomic>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>

#include "fs-adapters/linux/adapter.h"
#include "harness/device/served_device.h"
#include "harness/run/guest_session.h"
#include "harness/vm/guest.h"

namespace headcrash::campaign {

struct SurveyContext {
  vm::GuestImage image;
  vm::Accelerator accelerator = vm::Accelerator::tcg;
  std::filesystem::path cache, scratch;  ///< `scratch` is an existing directory for this cell
  std::uint64_t seed = 0;
  const std::atomic<bool>* interrupted = nullptr;  ///< may be null
};

inline constexpr const char* kSurveyDrive = "hp-c2447";

class SurveyCellRun {
 protected:
  /// `context` must outlive this object. `step_timeout_s` is the time limit of each request to a
  /// guest.
  SurveyCellRun(const adapters::LinuxAdapter& filesystem, const SurveyContext& context,
                std::uint64_t seed, std::int64_t step_timeout_s)
      : filesystem_(filesystem),
        context_(context),
        random_(seed),
        step_timeout_s_(step_timeout_s) {}

  Result<void> start_drive();
  /// Stops the guest and the drive. On return, the recording is complete.
  Result<void> end_guest_and_drive();
  std::filesystem::path recording() const { return context_.scratch / "recording.hcrec"; }
  bool interrupted() const { return context_.interrupted != nullptr && *context_.interrupted; }

  /// Sends a request to the drive's control socket.
  Result<void> control(const nlohmann::json& request);
  /// Starts a guest in place of the current one, if any.
  Result<void> start_guest();
  Result<void> make_file_system();
  /// Mounts a fresh file system. Fails if the kernel refuses the mount.
  Result<void> mount_fresh();

  adapters::LinuxAdapter filesystem_;
  const SurveyContext& context_;
  std::mt19937_64 random_;
  const std::int64_t step_timeout_s_;
  std::unique_ptr<device::ServedDevice> device_;
  std::unique_ptr<vm::Guest> guest_;
  std::unique_ptr<run::GuestSession> session_;
};

}  // namespace headcrash::campaign
