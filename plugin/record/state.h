#pragma once
// The contents of a medium at any point of a run, without copying: an extent index that refers to
// the recording.
//
//   MEDIA events   0 . . . . . . . . S . . . . . . . . S . . . . . . .    S: index kept
//                                            ^ at_event(i): the preceding kept index plus the
//                                              events since
//
// Indexes share common parts (extent_index.h), so the kept indexes cost only their differences.
// Creating a state takes microseconds. Examining a state costs only the sectors that are read, so
// thousands of states can be examined per second. A state is a value: a caller can copy it and
// assign() the data that another crash could have left (for example any subset of the writes in
// flight).

#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "plugin/record/recording.h"

namespace headcrash::record {

/// An open recording for random reads. Thread-safe.
class RecordingBytes {
 public:
  explicit RecordingBytes(RecordingReader reader) : reader_(std::move(reader)) {}
  const RecordingHeader& header() const { return reader_.header(); }
  Result<void> read(std::uint64_t offset, std::span<std::byte> into) const {
    return reader_.read_at(offset, into);
  }

 private:
  RecordingReader reader_;
};

/// The contents of one medium at one point in a run. Sectors that were never written read as
/// zeroes.
class MediumState {
 public:
  MediumState(std::shared_ptr<const RecordingBytes> bytes, ExtentIndex index)
      : bytes_(std::move(bytes)), index_(std::move(index)) {}

  std::uint64_t sectors() const { return index_.sectors(); }
  /// Fails for a sector whose bytes are unknown. Returns the old bytes of unreadable sectors; use
  /// first_unreadable() to find such sectors.
  Result<void> read(std::uint64_t lba, std::span<std::byte> into) const;
  std::optional<std::uint64_t> first_unreadable(std::uint64_t lba, std::uint64_t sectors) const;

  /// Sets the location of the range's bytes: Event::bytes_at of a SUBMIT event in the same
  /// recording, or zeroes.
  void assign(std::uint64_t lba, std::uint64_t sectors, ExtentLocation where) {
    index_.assign(lba, sectors, where);
  }
  /// Applies a MEDIA event of the recording that contains the bytes.
  void apply(std::uint64_t lba, std::uint32_t sectors, const MediaBytes& bytes) {
    apply_media(index_, lba, sectors, bytes);
  }
  const ExtentIndex& index() const { return index_; }

 private:
  std::shared_ptr<const RecordingBytes> bytes_;
  ExtentIndex index_;
};

class Timeline {
 public:
  struct Options {
    /// Maximum number of indexes to keep. A lower maximum increases the distance between the
    /// indexes. An index takes memory for the changes since the previous index.
    std::size_t kept_max = 256;
    std::size_t media_events_between = 512;  ///< minimum distance
  };

  /// Reads the MEDIA events of one device, without payloads. Uses sizeof(Step) = 48 bytes of memory
  /// per event.
  static Result<std::shared_ptr<const Timeline>> load(const std::filesystem::path& recording,
                                                      model::DeviceId device,
                                                      const Options& options);
  static Result<std::shared_ptr<const Timeline>> load(const std::filesystem::path& recording,
                                                      model::DeviceId device);

  /// Returns the number of events in the recording, of all kinds and devices.
  std::uint64_t events() const { return events_; }
  std::size_t media_events() const { return steps_.size(); }
  /// Set if the recording has an incomplete or damaged tail.
  std::optional<Error> tail_error() const { return tail_error_; }

  /// Returns the medium after the first `events` events of the recording.
  MediumState at_event(std::uint64_t events) const;
  /// Returns the medium after all events up to time `at`.
  MediumState at_time(model::TimeNs at) const;

 private:
  struct Step {
    std::uint64_t event;  ///< ordinal in the recording
    model::TimeNs at;
    std::uint64_t lba;
    std::uint32_t sectors;
    MediaBytes bytes;
  };
  MediumState after_steps(std::size_t steps) const;

  std::shared_ptr<const RecordingBytes> bytes_;
  std::vector<Step> steps_;
  std::vector<ExtentIndex> kept_;  ///< kept_[i] is the index before step i * between_
  std::size_t between_ = 1;
  std::uint64_t events_ = 0;
  std::optional<Error> tail_error_;
};

}  // namespace headcrash::record
