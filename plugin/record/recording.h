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

/// An observer that appends everything it sees to a file. At most 1 MiB has not reached the kernel
/// yet; that is handed over when the power changes, when a flush or a write with fua is
/// acknowledged, when told to and at the end: a killed server loses nothing that a flush had
/// promised. A host error (disk full) is kept and told by error(): the caller decides; nothing is
/// thrown.
class RecordingWriter : public model::MachineObserver {
 public:
  /// Where to continue with a log: everything about it that its events tell.
  struct Resume {
    std::uint64_t bytes = 0;  ///< up to the end of the last whole event
    std::uint64_t events = 0;
    model::TimeNs last_at = 0;
    model::RequestId last_request = 0;
    std::uint64_t checkpoint_generation = 0;
  };

  /// Refuses an existing file. The path is used as given.
  static Result<std::unique_ptr<RecordingWriter>> create(const std::filesystem::path& path,
                                                         const RecordingHeader& header);
  /// Continues with a log whose events have been read since `file` was opened, which locks it
  /// (log_store.h does): cuts off what is beyond the last whole event and writes OPENED. Times and
  /// request ids of the new server follow the last ones.
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

  Result<void> flush();                       ///< hands everything to the kernel
  Result<void> close();                       ///< flush(), and closes the file; nothing may follow
  const std::optional<Error>& error() const;  ///< the first host error; later events are dropped
  std::uint64_t bytes() const;  ///< length of the log, with what the kernel does not have yet

  // For a log that is also the store (log_store.h).

  /// As media_written(), and where the bytes lie now: nothing when the log has failed. `zeroes`:
  /// the store was ordered to zero these sectors.
  std::optional<MediaBytes> write_media(model::DeviceId device, model::TimeNs at,
                                        const model::MediaWrite& media, bool zeroes);
  /// Bytes that the medium holds already, to a new place in the log.
  std::optional<MediaBytes> write_moved(model::DeviceId device, std::uint64_t lba,
                                        std::span<const std::byte> data);
  /// Appends a checkpoint and lets the header point to it. `media`: checkpoint.h.
  void write_checkpoint(std::span<const std::byte> media);
  Result<void> read(std::uint64_t offset, std::span<std::byte> into) const;
  void fail_with(Error error);            ///< as if the host had failed
  model::TimeNs last_at() const;          ///< in the log's time, which continues over servers
  model::TimeNs now() const;              ///< the same in this server's time
  model::RequestId last_request() const;  ///< as the log counts

 private:
  struct State;
  explicit RecordingWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

enum class PayloadUse : std::uint8_t {
  load,       ///< into Event::payload, checksum verified
  pass_over,  ///< only its place is reported; damage inside it is seen when it is read
};

/// Why the readable part of a recording ends before the file does.
enum class Tail : std::uint8_t {
  whole,       ///< it does not
  incomplete,  ///< in the middle of an event: the writer was killed, or its disk was full
  damaged,     ///< a checksum is wrong or an event is invalid
};

/// Reads a recording front to back; memory is 24 bytes for each payload.
class RecordingReader {
 public:
  static Result<RecordingReader> open(const std::filesystem::path& path);
  RecordingReader(RecordingReader&&) noexcept;
  RecordingReader& operator=(RecordingReader&&) noexcept;
  ~RecordingReader();

  const RecordingHeader& header() const;

  /// The next event; nothing at the end of the readable part.
  Result<std::optional<Event>> next(PayloadUse use = PayloadUse::load);

  /// The bytes of a SUBMIT or MEDIA event, from `skip` sectors on; the event must have some. These
  /// two compare a payload with its checksum when it is read first (payload_index.h).
  Result<void> read_bytes(const Event& event, std::uint64_t skip, std::span<std::byte> into) const;
  Result<void> read_at(std::uint64_t offset, std::span<std::byte> into) const;

  /// Bytes after the last whole event: 0 for a log that was closed properly. Known once next() has
  /// returned nothing.
  std::uint64_t truncated_bytes() const;
  std::uint64_t whole_bytes() const;  ///< up to the end of the last whole event
  Tail tail() const;                  ///< known once next() has returned nothing
  /// What to tell people about a tail that is not whole: file, offset, hint.
  std::optional<Error> tail_error() const;

  /// Goes to the newest checkpoint, so that next() gives what came after it; the checkpoint's
  /// payload. Nothing, and no move, when there is no readable one.
  Result<std::optional<std::vector<std::byte>>> skip_to_checkpoint();
  std::uint64_t checkpoint_generation()
      const;  ///< of the newest slot, also of one that cannot be read

 private:
  struct State;
  explicit RecordingReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace headcrash::record
