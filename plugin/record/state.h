#pragma once
// What a medium held at any point of a run, without copying it: an extent index that refers to the
// recording.
//
//   MEDIA events   0 . . . . . . . . S . . . . . . . . S . . . . . . .     S: a kept index, at intervals
//                                            ^ at_event(i): the kept index before it, and the few
//                                            since
//
// Indexes share what they have in common (extent_index.h), so the kept ones cost their differences,
// and a state is made in microseconds: thousands a second can be looked at, each by reading only
// what is looked at. A state is a value: copy it, and assign() to it what another crash could have
// left on top (any subset of the writes that were in flight, say).

#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "plugin/record/recording.h"

namespace headcrash::record {

/// A recording that stays open and is read anywhere. Reading is safe from several threads.
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

/// One medium at one point of a run. Reads as a store does; never-written sectors are zeroes.
class MediumState {
 public:
  MediumState(std::shared_ptr<const RecordingBytes> bytes, ExtentIndex index)
      : bytes_(std::move(bytes)), index_(std::move(index)) {}

  std::uint64_t sectors() const { return index_.sectors(); }
  /// Refuses a sector of which nobody knows the bytes. Unreadable sectors give what they held: ask
  /// for them with first_unreadable().
  Result<void> read(std::uint64_t lba, std::span<std::byte> into) const;
  std::optional<std::uint64_t> first_unreadable(std::uint64_t lba, std::uint64_t sectors) const;

  /// Puts other bytes of the same recording over a range: Event::bytes_at of a SUBMIT, or zeroes.
  void assign(std::uint64_t lba, std::uint64_t sectors, ExtentLocation where) {
    index_.assign(lba, sectors, where);
  }
  /// What a MEDIA event of the same recording does.
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
    /// Kept indexes at most; the distance between two follows. What one more costs is what changed
    /// since.
    std::size_t kept_max = 256;
    std::size_t media_events_between = 512;  ///< at least
  };

  /// Reads the MEDIA events of one device; sizeof(Step) of memory, 48 bytes, for
  /// each. Not the payloads.
  static Result<std::shared_ptr<const Timeline>> load(const std::filesystem::path& recording,
                                                      model::DeviceId device,
                                                      const Options& options);
  static Result<std::shared_ptr<const Timeline>> load(const std::filesystem::path& recording,
                                                      model::DeviceId device);

  std::uint64_t events() const {
    return events_;
  }  ///< of the whole recording, of all kinds and devices
  std::size_t media_events() const { return steps_.size(); }
  std::optional<Error> tail_error() const {
    return tail_error_;
  }  ///< the recording does not end well

  /// The medium after the first `events` events of the recording.
  MediumState at_event(std::uint64_t events) const;
  MediumState at_time(model::TimeNs at) const;  ///< after all events with a time of at most `at`

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
  std::vector<ExtentIndex> kept_;  ///< kept_[i]: before step i * between_
  std::size_t between_ = 1;
  std::uint64_t events_ = 0;
  std::optional<Error> tail_error_;
};

}  // namespace headcrash::record
