#pragma once
// A recording as used by the explorer: writes, flushes and marks with their times, and the image of
// any crash state.
//
//   events   |-------- power on -------|off|on|-------- power on --------|
//   a state built from writes consists of:
//     zeroes or the base, and writes        the medium as MEDIA events left it at `off`, and writes
//     of this power cycle                   of this power cycle
//
// The host's requests do not show which unflushed writes survived a power cut inside the recording;
// the MEDIA events do. The states of a power cycle are therefore based on the medium at its start,
// and only the writes of that cycle are unflushed. All functions are thread-safe.

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

/// A write, zeroing or trim of one device, as submitted by the host.
struct RecordedWrite {
  model::RequestId request = 0;
  model::Op op = model::Op::write;
  bool fua = false;
  std::uint64_t lba = 0;
  std::uint32_t sectors = 0;
  std::uint64_t bytes_at = 0;         ///< location of the payload in the recording, or 0
  std::uint64_t submitted_event = 0;  ///< ordinal of the event in the recording
  /// Event of the acknowledgement; nullopt if there was no acknowledgement, or only an error.
  std::optional<std::uint64_t> acked_event;
};
struct RecordedFlush {
  model::RequestId request = 0;
  std::uint64_t submitted_event = 0;
  std::optional<std::uint64_t> acked_event;
};
/// A write that, at a cut, is not covered by any completed flush.
struct UnflushedWrite {
  model::DeviceId device = 0;
  std::size_t write = 0;  ///< index into the device's writes
};
/// A mark in a stage's recording. It says that the contents of battery-backed caches have been
/// written back. Before this mark, a cache may still hold data whose write-back the recording does
/// not show, so there are no crash states before the mark.
inline constexpr std::string_view kCachesWrittenBackMark = "caches written back";

struct RecordedMark {
  std::uint64_t event = 0;
  model::TimeNs at = 0;
  std::string text;
};

/// Maximum size of a device for crash states: 2 TiB.
inline constexpr std::uint64_t kStateSectorsMax = std::uint64_t{1} << 32;

class RunHistory {
 public:
  ~RunHistory();
  RunHistory(const RunHistory&) = delete;
  RunHistory& operator=(const RunHistory&) = delete;

  /// Reads the recording once (without payloads), and the recordings on which it is based. Fails if
  /// a recording cannot be read or is damaged, or if its base is missing or does not match. Events
  /// in an incomplete tail are ignored; tail_error() reports the tail.
  static Result<std::shared_ptr<const RunHistory>> load(const std::filesystem::path& recording) {
    return load(recording, nullptr);
  }
  /// Like load(), but for many recordings with one base: if the recording is based on `known_base`,
  /// that base is not read again.
  static Result<std::shared_ptr<const RunHistory>> load(
      const std::filesystem::path& recording, std::shared_ptr<const RunHistory> known_base);

  const std::filesystem::path& path() const;
  const record::RecordingHeader& header() const;
  std::uint64_t events() const;
  /// Returns a fingerprint of the events before `event` (at most events()) and of the base.
  /// Recordings with equal fingerprints have equal events up to that point, including payloads.
  /// When a recording grows, its earlier fingerprints do not change.
  std::uint64_t fingerprint(std::uint64_t event) const;
  /// Returns false for a recording that was imported or was made on a stage. Such a recording has
  /// no `physical` or `member` states.
  bool has_media_events() const;
  std::optional<Error> tail_error() const;

  const std::vector<RecordedMark>& marks() const;
  /// Returns the writes in submission order.
  const std::vector<RecordedWrite>& writes(model::DeviceId device) const;
  const std::vector<RecordedFlush>& flushes(model::DeviceId device) const;

  /// Returns the machine's disks, ascending. Returns an empty list unless each device is a separate
  /// medium and requests are numbered across all of them (not so for an array, or a cache over a
  /// drive). In a state's name, "all disks" means this list.
  const std::vector<model::DeviceId>& disks() const;
  /// Returns the events at which a device answered a request, ascending. The device was still
  /// running at these events.
  const std::vector<std::uint64_t>& answers(model::DeviceId device) const;
  /// Returns the battery-backed caches that have MEDIA events. Each sector of a cache has the
  /// contents of its newest MEDIA event or, without one, the contents of the device below the cache
  /// (plugin/model/nvram/nvram.h). image() returns the contents of a cache.
  const std::vector<model::DeviceId>& caches() const;
  /// Returns the devices whose writes a state keeps or loses: all disks, or one device. For a
  /// physical state, returns disks(), or the first device if disks() is empty.
  std::vector<model::DeviceId> devices_of(const CrashState& state) const;
  /// Returns the writes to devices_of(state) that are unflushed at the state's cut, in submission
  /// order.
  std::vector<UnflushedWrite> unflushed_of(const CrashState& state) const;

  /// Returns indices into writes(device). The writes are those that were submitted before `event`
  /// and are not covered by any flush that completed before `event`.
  std::vector<std::size_t> unflushed_at(model::DeviceId device, std::uint64_t event,
                                        std::optional<model::RequestId> lies_from = {}) const;

  /// Returns the image of a device in a state. A device without a medium, such as an array, has an
  /// image only in states that are built from the host's writes; the image then consists of the
  /// host's writes to this device. If there are no MEDIA events, media that the state does not name
  /// contain all submitted writes. Fails if the state's event is beyond the end of this recording,
  /// or if the state names a request that is not an unflushed write at that event. Also fails for
  /// `physical` and `members` if there are no MEDIA events.
  Result<StateImage> image(const CrashState& state, model::DeviceId device) const;

  /// Makes the image of a state, with the digest of each sector, known to recordings that are loaded
  /// on top of it. load() then need not read this recording to compute the digests.
  Result<void> share_image(const CrashState& state, model::DeviceId device,
                           std::span<const std::uint64_t> digests) const;

  /// Reads a write's payload from the write's sector `skip` on. Fails if the payload was not
  /// recorded or cannot be read.
  Result<void> read_payload(const RecordedWrite& write, std::uint64_t skip,
                            std::span<std::byte> into) const;

  /// Returns a medium's contents before the first event; null if they are zeroes.
  std::shared_ptr<const StateImage> base_image(model::DeviceId device) const;
  /// Returns the first event of each power cycle: 0, and the event after each power cut.
  const std::vector<std::uint64_t>& power_cycles() const;
  /// Returns the first event of the power cycle that contains a cut at `event`.
  std::uint64_t power_cycle_begin(std::uint64_t event) const;

 private:
  struct State;
  explicit RunHistory(std::unique_ptr<State> state);
  /// `chain` contains the recordings that are being loaded. All of them are based, directly or
  /// indirectly, on `recording`.
  static Result<std::shared_ptr<const RunHistory>> load(
      const std::filesystem::path& recording, std::shared_ptr<const RunHistory> known_base,
      std::vector<std::filesystem::path>& chain);
  /// Returns an image whose digests are precomputed. All callers share the image.
  Result<std::shared_ptr<const StateImage>> shared_image(const CrashState& state,
                                                         model::DeviceId device) const;
  std::unique_ptr<State> state_;
};

}  // namespace headcrash::states
