#pragma once
// A recording as the crash lab sees it: who wrote what when, what was flushed, which marks were
// set, and the image of any crash state.
//
//   events   |-------- power on -------|off|on|-------- power on --------|
//   states by writes: zeroes or the     the medium as MEDIA events left it
//   base, and writes of this power cycle    at `off`, and writes of this power cycle
//
// What the host knew tells nothing about what a power cut inside the recording left of the
// unflushed writes before it, but the medium does: a power cycle in which the power stayed on
// begins with it, and only its own writes are unflushed. All functions may be called from several
// threads.

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
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
/// One that no completed flush covers at a cut.
struct UnflushedWrite {
  model::DeviceId device = 0;
  std::size_t write = 0;  ///< index into its writes
};
/// Of a stage's recording: what battery-backed caches had kept has been written back. A cache keeps
/// it while that goes on, which the recording cannot tell: before it there is no state to be cut.
inline constexpr std::string_view kCachesWrittenBackMark = "caches written back";

struct RecordedMark {
  std::uint64_t event = 0;
  model::TimeNs at = 0;
  std::string text;
};

/// Of a device whose crash states are made: 2 TiB.
inline constexpr std::uint64_t kStateSectorsMax = std::uint64_t{1} << 32;

class RunHistory {
 public:
  ~RunHistory();
  RunHistory(const RunHistory&) = delete;
  RunHistory& operator=(const RunHistory&) = delete;

  /// Reads the recording once (no payloads), and those that it is based on. Errors: a recording
  /// that cannot be read or is damaged, one whose base is missing or does not fit; each names the
  /// file and the hint. An incomplete tail is reported by tail_error() and left out.
  static Result<std::shared_ptr<const RunHistory>> load(const std::filesystem::path& recording) {
    return load(recording, nullptr);
  }
  /// For many recordings on one base: if it is `known_base` that this one is based on, it is not
  /// read again.
  static Result<std::shared_ptr<const RunHistory>> load(
      const std::filesystem::path& recording, std::shared_ptr<const RunHistory> known_base);

  const std::filesystem::path& path() const;
  const record::RecordingHeader& header() const;
  std::uint64_t events() const;
  /// Of the events before `event` (at most events()) and of the base: two recordings that agree in
  /// it are the same up to there, payloads included. A recording that grows keeps those it had.
  std::uint64_t fingerprint(std::uint64_t event) const;
  bool has_media_events()
      const;  ///< false: imported or made on a stage; `physical` and `members` are refused
  std::optional<Error> tail_error() const;

  const std::vector<RecordedMark>& marks() const;
  const std::vector<RecordedWrite>& writes(model::DeviceId device) const;  ///< by submission
  const std::vector<RecordedFlush>& flushes(model::DeviceId device) const;

  /// The disks of the machine, ascending, when each device is a medium of its own and all number
  /// their requests together; else (an array, a cache over a drive) none. What a state of all disks
  /// is about.
  const std::vector<model::DeviceId>& disks() const;
  /// Events at which a device answered whatever it had been asked, rising: it was alive then.
  const std::vector<std::uint64_t>& answers(model::DeviceId device) const;
  /// The battery-backed caches of the machine that held something: what one holds is the newest of
  /// its MEDIA events for a sector, and else what is below it (plugin/model/nvram/nvram.h). image()
  /// gives what it holds.
  const std::vector<model::DeviceId>& caches() const;
  /// Whose writes a state has or lacks: all disks, or one device; of a physical state the disks, or
  /// the first device.
  std::vector<model::DeviceId> devices_of(const CrashState& state) const;
  /// What is unflushed at its cut on all of these, by submission.
  std::vector<UnflushedWrite> unflushed_of(const CrashState& state) const;

  /// Indices into writes(device) of those submitted before `event` that no completed flush covers
  /// then.
  std::vector<std::size_t> unflushed_at(model::DeviceId device, std::uint64_t event,
                                        std::optional<model::RequestId> lies_from = {}) const;

  /// The image of a medium in a state. Errors: a state that does not fit this recording (event
  /// beyond the end, a request that is not unflushed there), `physical` or `members` of a recording
  /// without media events. By what the host knew, a device without a medium of its own (an array)
  /// has an image, too: what the host wrote to it. Without MEDIA events the media that the state is
  /// not about hold everything that was submitted.
  Result<StateImage> image(const CrashState& state, model::DeviceId device) const;

  /// Bytes of a write's payload, from sector `skip` of it on. Errors: made without data; cannot be
  /// read.
  Result<void> read_payload(const RecordedWrite& write, std::uint64_t skip,
                            std::span<std::byte> into) const;

  /// What was on a medium before the first event; null: zeroes.
  std::shared_ptr<const StateImage> base_image(model::DeviceId device) const;
  /// First events of the power cycles: 0, and those after the power went.
  const std::vector<std::uint64_t>& power_cycles() const;
  /// Where the one begins to which a cut at `event` belongs.
  std::uint64_t power_cycle_begin(std::uint64_t event) const;

 private:
  struct State;
  explicit RunHistory(std::unique_ptr<State> state);
  /// `chain`: the recordings that stand on this one.
  static Result<std::shared_ptr<const RunHistory>> load(
      const std::filesystem::path& recording, std::shared_ptr<const RunHistory> known_base,
      std::vector<std::filesystem::path>& chain);
  /// The same for all who ask for it, with its digests known.
  Result<std::shared_ptr<const StateImage>> shared_image(const CrashState& state,
                                                         model::DeviceId device) const;
  std::unique_ptr<State> state_;
};

}  // namespace headcrash::states
