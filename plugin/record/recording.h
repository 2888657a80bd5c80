#pragma once
// Writes and reads recordings (format in event.h).

#include <filesystem>
#include <memory>
#include <optional>

#include "plugin/model/core/machine.h"
#include "plugin/record/event.h"
#include "plugin/record/media_bytes.h"

namespace headcrash::record {

class LogFile;

/// An observer that appends all events to a file. It buffers at most 1 MiB. The buffer is written
/// to the kernel when the power changes, when a flush or a FUA write is acknowledged, on flush(),
/// and at the end. If the server is killed, the recording therefore still has everything that a
/// flush had made durable. The first host error (disk full) is kept and returned by error(); the
/// caller decides how to proceed.
class RecordingWriter : public model::MachineObserver {
 public:
  /// The end of an existing log, at which a new writer continues.
  struct Resume {
    std::uint64_t bytes = 0;  ///< end of the last complete event
    std::uint64_t events = 0;
    model::TimeNs last_at = 0;
    model::RequestId last_request = 0;
    std::uint64_t checkpoint_generation = 0;
  };

  /// Creates the file; fails if it exists. The path is used as given.
  static Result<std::unique_ptr<RecordingWriter>> create(const std::filesystem::path& path,
                                                         const RecordingHeader& header);
  /// Continues a log. REQUIRES: the caller opened `file`, which locks the log, before it read the
  /// log's events (see log_store.h). Truncates the file after the last complete event and writes an
  /// OPENED event. The new server's times and request ids continue from the last values in the log.
  static Result<std::unique_ptr<RecordingWriter>> resume(std::unique_ptr<LogFile> file,
                                                         const Resume& resume);
  ~RecordingWriter() override;

  void submitted(model::DeviceId device, model::TimeNs at, const model::Request& request) override;
  void acknowledged(model::DeviceId device, const model::Completion& completion) override;
  void media_written(model::DeviceId device, model::TimeNs at,
                     const model::MediaWrite& media) override;
  void incident(model::DeviceId device, model::TimeNs at, std::string_view text) override;
  void marked(model::TimeNs at, std::string_view text) override;
  void power_changed(model::TimeNs at, model::PowerState state) override;

  Result<void> flush();  ///< passes all buffered bytes to the kernel
  Result<void> close();  ///< flush(), then closes the file; no calls may follow
  const std::optional<Error>& error() const;  ///< the first host error; later events are dropped
  std::uint64_t bytes() const;                ///< length of the log, including buffered bytes

  // ---- for log_store.h, where the log is also the store

  /// Like media_written(), but returns the location of the bytes in the log; nullopt if the log has
  /// failed. `zeroes` applies to a write without bytes: if true, the write is recorded as zeroes,
  /// and the store must zero the sectors.
  std::optional<MediaBytes> write_media(model::DeviceId device, model::TimeNs at,
                                        const model::MediaWrite& media, bool zeroes);
  /// Appends a copy of bytes that the medium already holds. Used to move the bytes within the log.
  std::optional<MediaBytes> write_moved(model::DeviceId device, std::uint64_t lba,
                                        std::span<const std::byte> data);
  /// Appends a checkpoint and updates the header's slot. For the format of `media`, see
  /// checkpoint.h.
  void write_checkpoint(std::span<const std::byte> media);
  Result<void> read(std::uint64_t offset, std::span<std::byte> into) const;
  void fail_with(Error error);  ///< simulates a host error
  /// Log time of the last event. Log time continues when a new server opens the log.
  model::TimeNs last_at() const;
  model::TimeNs now() const;              ///< current time of this server
  model::RequestId last_request() const;  ///< the last request id, as numbered in the log

 private:
  struct State;
  explicit RecordingWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

enum class PayloadUse : std::uint8_t {
  load,  ///< stored in Event::payload once the checksum has been verified
  skip,  ///< return only the payload's location; damage is detected when the payload is read
};

/// The reason why the readable part of a recording ends.
enum class Tail : std::uint8_t {
  whole,       ///< the whole file is readable
  incomplete,  ///< the file ends within an event: the writer was killed, or its disk was full
  damaged,     ///< a wrong checksum or an invalid event
};

/// Reads a recording sequentially. Uses 24 bytes of memory per payload.
class RecordingReader {
 public:
  static Result<RecordingReader> open(const std::filesystem::path& path);
  RecordingReader(RecordingReader&&) noexcept;
  RecordingReader& operator=(RecordingReader&&) noexcept;
  ~RecordingReader();

  const RecordingHeader& header() const;

  /// Returns the next event; nullopt at the end of the readable part.
  Result<std::optional<Event>> next(PayloadUse use = PayloadUse::load);

  /// Reads the bytes of a SUBMIT or MEDIA event, except for its first `skip` sectors. The event
  /// must have bytes. Both next() and read_bytes() verify a payload's checksum when they first read
  /// the payload (payload_index.h).
  Result<void> read_bytes(const Event& event, std::uint64_t skip, std::span<std::byte> into) const;
  Result<void> read_at(std::uint64_t offset, std::span<std::byte> into) const;

  /// Returns the number of bytes after the last complete event: 0 for a properly closed log. Valid
  /// after next() has returned nullopt.
  std::uint64_t truncated_bytes() const;
  std::uint64_t whole_bytes() const;  ///< end of the last complete event
  Tail tail() const;                  ///< valid after next() has returned nullopt
  /// Returns an error that describes an incomplete or damaged tail: file, offset, hint.
  std::optional<Error> tail_error() const;

  /// Moves to the newest checkpoint, so that next() returns the events after it. Returns the
  /// checkpoint's payload. If no checkpoint is readable, returns nullopt, and the position does not
  /// change.
  Result<std::optional<std::vector<std::byte>>> skip_to_checkpoint();
  /// Generation of the newest checkpoint slot, even if the checkpoint itself is unreadable.
  std::uint64_t checkpoint_generation() const;

 private:
  struct State;
  explicit RecordingReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace headcrash::record
