#pragma once
// A server of crash states (plugin/servers/nbd/CONTROL.md, "A server of crash states"), running as
// a child process. The explorer's guests attach its stages.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/device/control_client.h"

namespace headcrash::device {

struct StageLoad {
  std::size_t stage = 0;
  std::filesystem::path recording;  ///< if empty, the stage gets an empty disk of `sectors` sectors
  std::string state;                ///< name of the state (plugin/states/crash_state.h)
  std::uint64_t sectors = 0;        ///< size of the empty disk
  /// Names of additional empty disks, with their sizes in sectors (virtual_guest::kOtherDisks).
  std::vector<std::pair<std::string, std::uint64_t>> other_disks;
  /// If true, fills an empty disk with recognisable bytes before mkfs. Trims do not change these
  /// bytes.
  bool used_disk = false;
  /// File for a new recording of the requests to the stage; no recording if unset.
  std::optional<std::filesystem::path> record;
  std::uint32_t delay_us = 0;  ///< maximum delay of writes and flushes while recording
  std::uint64_t delay_seed = 0;
  /// Ranges of the disk, each an LBA and a number of sectors. Writes that touch one of these ranges
  /// take `slow_us` longer.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> slow;
  std::uint32_t slow_us = 0;
  /// The array or cache above the media; empty to use the medium directly.
  std::string machine;
  std::vector<std::string> faults;  ///< faults injected at power-on (plugin/model/faults/faults.h)
};
struct LoadedStage {
  std::string nonce;
  std::uint64_t sectors = 0;
  std::uint64_t digest = 0;
};

class StateServer {
 public:
  /// Starts the server. `scratch` is an existing directory for the sockets. With `virtual_time`,
  /// user-mode Linux guests can also use the stages.
  static Result<std::unique_ptr<StateServer>> start(std::size_t stages,
                                                    const std::filesystem::path& scratch,
                                                    bool virtual_time = false);
  ~StateServer();

  std::filesystem::path socket() const;
  static std::string disk_export(std::size_t stage);  ///< "stage/0"
  static std::string mark_export(std::size_t stage);  ///< "mark/0"
  /// Returns the path of the socket of a stage's disk, for runs in virtual time. The sockets for
  /// marks and for other disks are in the same directory.
  std::filesystem::path virtual_socket(std::size_t stage) const;
  /// Returns the name of the export of the stage's other disk, such as "stage/0/log".
  static std::string disk_export(std::size_t stage, const std::string& other_disk);

  // The following functions may be called from any thread.
  Result<LoadedStage> load(const StageLoad& load);
  /// Ends the recording and returns its number of events.
  Result<std::uint64_t> seal(std::size_t stage);
  Result<void> mark(std::size_t stage, const std::string& text);
  Result<std::uint64_t> digest(std::size_t stage);
  Result<nlohmann::json> status(std::size_t stage);

  bool alive() const;
  Result<void> stop();

 private:
  struct State;
  explicit StateServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace headcrash::device
