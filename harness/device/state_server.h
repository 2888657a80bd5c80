#pragma once
// A server of crash states (plugin/servers/nbd/CONTROL.md, "A server of crash states") as a child
// process: the stages that the lab's guests have attached.

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
  std::filesystem::path recording;  ///< empty: an empty disk of `sectors`
  std::string state;                ///< plugin/states/crash_state.h
  std::uint64_t sectors = 0;        ///< of an empty disk
  std::uint64_t log_sectors = 0;    ///< of an empty one beside it, for a log; 0: none
  bool used_disk =
      false;  ///< an empty one that holds bytes from before mkfs, which trims leave alone
  std::optional<std::filesystem::path> record;  ///< a new recording of what is done to the stage
  std::uint32_t delay_us =
      0;  ///< while it is made: the longest time of an answer to a write or flush
  std::uint64_t delay_seed = 0;  ///< of the draw for each
  /// Places, each an LBA and sectors: writes that touch one take so much longer.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> slow;
  std::uint32_t slow_us = 0;
  std::string machine;              ///< stack above the media; empty: the medium itself
  std::vector<std::string> faults;  ///< of the machine, at power-on (plugin/model/faults/faults.h)
};
struct LoadedStage {
  std::string nonce;
  std::uint64_t sectors = 0;
  std::uint64_t digest = 0;
};

class StateServer {
 public:
  /// `scratch` is an existing folder for the sockets. `virtual_time`: stages are also there for
  /// user-mode Linux.
  static Result<std::unique_ptr<StateServer>> start(std::size_t stages,
                                                    const std::filesystem::path& scratch,
                                                    bool virtual_time = false);
  ~StateServer();

  std::filesystem::path socket() const;
  static std::string disk_export(std::size_t stage);  ///< "stage/0"
  static std::string mark_export(std::size_t stage);  ///< "mark/0"
  /// In virtual time: the stage's disk; marks and a log have sockets beside it.
  std::filesystem::path virtual_socket(std::size_t stage) const;
  static std::string log_export(
      std::size_t stage);  ///< "stage/0/log": the second disk, where there is one

  // Each may be called from any thread.
  Result<LoadedStage> load(const StageLoad& load);
  Result<std::uint64_t> seal(std::size_t stage);  ///< events in the finished recording
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
