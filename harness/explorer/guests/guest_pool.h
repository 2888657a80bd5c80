#pragma once
// A state server, and one guest for each of the server's stages.

#include "harness/explorer/guests/stage_guest.h"
#include "plugin/base/scratch_folder.h"

namespace headcrash::explorer {

class GuestPool {
 public:
  /// Starts the server and the guests. Must be called from a thread that outlives the guests
  /// (vm/guest.h).
  static Result<std::unique_ptr<GuestPool>> start(std::size_t guests,
                                                  const StageGuestOptions& options);
  ~GuestPool();

  device::StateServer& server() { return *server_; }
  StageGuest& guest(std::size_t index) { return *guests_.at(index); }
  std::vector<StageGuest*> guests() const;
  /// Returns a temporary directory. The destructor of this object removes the directory.
  const std::filesystem::path& scratch() const { return scratch_.path(); }

 private:
  explicit GuestPool(base::ScratchFolder scratch) : scratch_(std::move(scratch)) {}

  base::ScratchFolder scratch_;
  std::unique_ptr<device::StateServer> server_;
  // Declared after `server_`, so that the guests are destroyed before the server.
  std::vector<std::unique_ptr<StageGuest>> guests_;
};

}  // namespace headcrash::explorer
