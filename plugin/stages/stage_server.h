#pragma once
// The stages of one server, and the loading of crash states.
//
//   recording + id --RunHistory--> an image for each medium --> [machine] --> Stage::load

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "plugin/model/faults/faults.h"
#include "plugin/stages/history_cache.h"
#include "plugin/stages/stage.h"
#include "plugin/states/crash_state.h"

namespace headcrash::stages {

inline constexpr std::size_t kStagesMax = 64;
/// Only written sectors take memory. Some stacks write all of each disk when they are created.
inline constexpr std::uint64_t kOverlayBytesDefault = 1ULL << 30;

struct StageServerOptions {
  std::size_t stages = 1;                                  ///< 1 to kStagesMax
  std::uint64_t overlay_bytes_max = kOverlayBytesDefault;  ///< limit for each medium of each stage
  /// the exports `state/ID` serve the states of this recording
  std::optional<std::filesystem::path> recording;
};

/// A request to load a stage with a state of a recording, or with an empty disk.
struct LoadOrder {
  std::size_t stage = 0;
  std::optional<std::filesystem::path> recording;  ///< absolute
  std::string id;                                  ///< name of a state in `recording`
  std::uint64_t sectors = 0;  ///< size of the empty disk; used without a recording
  /// Additional empty disks with unique names, which are recorded and cut together with the first.
  /// Used without a recording.
  std::vector<DiskInfo> other_disks;
  bool used_disk = false;  ///< the disk is not empty but a used disk (record/used_disk.h)
  std::optional<std::filesystem::path> record;  ///< absolute path of the new recording
  AnswerDelay delay;
  std::optional<std::string> machine;
  std::vector<model::FaultSpec> faults;  ///< faults of the machine, which are active at power-on
};

struct Loaded {
  std::string nonce;
  std::uint64_t sectors = 0;
  std::uint64_t digest = 0;
};

/// All functions are thread-safe.
class StageServer {
 public:
  /// Fails if `recording` cannot be read.
  static Result<std::unique_ptr<StageServer>> create(const StageServerOptions& options);

  std::size_t stage_count() const { return stages_.size(); }
  /// Fails if the stage does not exist.
  Result<Stage*> stage(std::size_t number);
  Result<Loaded> load(const LoadOrder& order);

  /// Creates a separate stage for one connection, loaded with a state of the server's recording.
  /// Fails if there is no such recording or state.
  Result<std::unique_ptr<Stage>> private_stage(const std::string& id);

 private:
  explicit StageServer(const StageServerOptions& options);

  StageServerOptions options_;
  HistoryCache histories_;
  std::vector<std::unique_ptr<Stage>> stages_;
};

}  // namespace headcrash::stages
