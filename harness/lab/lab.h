#pragma once
// A state server with one guest on each of its stages: what an exploration, a replay or a campaign works
// with.

#include "harness/lab/stage_guest.h"

namespace headcrash::lab {

struct LabOptions {
  std::size_t guests = 1;
  vm::GuestImage image;
  vm::Accelerator accelerator = vm::Accelerator::tcg;
  std::uint32_t memory_mib = 384;
  std::uint64_t disk_bytes = 0;
  std::filesystem::path cache, scratch;  ///< saved guest states; existing folder of the lab's own
  std::chrono::milliseconds step_timeout = std::chrono::seconds(60);
};

class Lab {
 public:
  /// Call it from a thread that outlives the lab (vm/guest.h).
  static Result<std::unique_ptr<Lab>> start(const LabOptions& options);
  ~Lab();

  device::StateServer& server() { return *server_; }
  StageGuest& guest(std::size_t index) { return *guests_.at(index); }
  std::vector<StageGuest*> guests() const;

 private:
  Lab() = default;
  std::unique_ptr<device::StateServer> server_;
  std::vector<std::unique_ptr<StageGuest>> guests_;  // go before the server does
};

}  // namespace headcrash::lab
