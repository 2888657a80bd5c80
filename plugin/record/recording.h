#pragma once
// Writes and reads recordings (format in event.h).

#include <filesystem>
#include <memory>
#include <optional>

#include "plugin/model/machine.h"
#include "plugin/record/event.h"

namespace headcrash::record {

/// A witness that appends everything it sees to a file. Buffers at most 1 MiB; writes the rest when it is
/// destroyed or told to. A host error (disk full) is kept and told by error(): the caller decides; nothing is
/// thrown.
class RecordingWriter : public model::MachineWitness {
 public:
  /// Refuses an existing file. The path is used as given.
  static Result<std::unique_ptr<RecordingWriter>> create(const std::filesystem::path& path,
                                                         const RecordingHeader& header);
  ~RecordingWriter() override;

  void submitted(model::DeviceId device, model::TimeNs at, const model::Request& request) override;
  void acknowledged(model::DeviceId device, const model::Completion& completion) override;
  void media_written(model::DeviceId device, model::TimeNs at, const model::MediaWrite& media) override;
  void incident(model::DeviceId device, model::TimeNs at, std::string_view text) override;
  void marked(model::TimeNs at, std::string_view text) override;
  void power_changed(model::TimeNs at, model::PowerState state) override;

  Result<void> flush();                       ///< hands everything to the kernel
  const std::optional<Error>& error() const;  ///< the first host error; later events are dropped

 private:
  struct State;
  explicit RecordingWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Reads a recording front to back in bounded memory.
class RecordingReader {
 public:
  static Result<RecordingReader> open(const std::filesystem::path& path);
  RecordingReader(RecordingReader&&) noexcept;
  RecordingReader& operator=(RecordingReader&&) noexcept;
  ~RecordingReader();

  const RecordingHeader& header() const;

  /// The next event; nothing at the end of the readable part.
  Result<std::optional<Event>> next();

  /// Bytes after the last whole event: 0 for a log that was closed properly. Known once next() has returned
  /// nothing.
  std::uint64_t truncated_bytes() const;

 private:
  struct State;
  explicit RecordingReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace headcrash::record
