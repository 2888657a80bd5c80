#pragma once
// A recording as the crash lab sees it: who wrote what when, what was flushed, which marks were set, and the
// image of any crash state.

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "plugin/record/recording.h"
#include "plugin/record/state.h"
#include "plugin/states/crash_state.h"
#include "plugin/states/state_image.h"

namespace headcrash::states {

/// A write, zeroing or trim of one device, as the host saw it.
struct RecordedWrite {
  model::RequestId request = 0;
  model::Op op = model::Op::write;
  bool fua = false;
  std::uint64_t lba = 0;
  std::uint32_t sectors = 0;
  std::uint64_t bytes_at = 0;                ///< of its payload in the recording
  std::uint64_t submitted_event = 0;         ///< ordinals in the recording
  std::optional<std::uint64_t> acked_event;  ///< none: never, or with an error
};
struct RecordedFlush {
  model::RequestId request = 0;
  std::uint64_t submitted_event = 0;
  std::optional<std::uint64_t> acked_event;
};
struct RecordedMark {
  std::uint64_t event = 0;
  model::TimeNs at = 0;
  std::string text;
};

class RunHistory {
 public:
  /// Reads the recording once (no payloads), and those that it is based on. Errors: a recording that cannot
  /// be read or is damaged, one whose base is missing or does not fit; each names the file and the remedy. An
  /// incomplete tail is told by complaint() and left out.
  static Result<std::shared_ptr<const RunHistory>> load(const std::filesystem::path& recording);

  const std::filesystem::path& path() const;
  const record::RecordingHeader& header() const;
  std::uint64_t events() const;
  bool has_media_events()
      const;  ///< false: imported or made on a stage; `physical` and `members` are refused
  std::optional<Error> complaint() const;

  const std::vector<RecordedMark>& marks() const;
  const std::vector<RecordedWrite>& writes(model::DeviceId device) const;  ///< by submission
  const std::vector<RecordedFlush>& flushes(model::DeviceId device) const;

  /// Indices into writes(device) of those submitted before `event` that no completed flush covers then.
  std::vector<std::size_t> loose_at(model::DeviceId device, std::uint64_t event,
                                    std::optional<model::RequestId> lies_from = {}) const;

  /// The image of a medium in a state. Errors: a state that does not fit this recording (event beyond the
  /// end, a request that is not loose there), `physical` or `members` of a recording without media events.
  Result<StateImage> image(const CrashState& state, model::DeviceId device) const;

 private:
  struct State;
  explicit RunHistory(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace headcrash::states
