#pragma once
// The recording that a stage makes of what is done to it, from its load until it is sealed. What
// comes afterwards is not written down.

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

#include "plugin/record/recording.h"

namespace headcrash::stages {

struct Sealed {
  std::uint64_t events = 0, bytes = 0;
};

class StageRecording final : public model::MachineObserver {
 public:
  /// What time it is, in nanoseconds from somewhere. None: the host's.
  using Clock = std::function<model::TimeNs()>;
  /// Refuses an existing file.
  static Result<std::unique_ptr<StageRecording>> create(const std::filesystem::path& path,
                                                        const record::RecordingHeader& header,
                                                        Clock clock = {});

  const std::filesystem::path& path() const { return path_; }
  bool is_open() const { return writer_ != nullptr; }
  /// The host could not keep all of it: what it says is not to be trusted beyond its last whole
  /// event.
  const std::optional<Error>& error() const { return error_; }
  model::TimeNs now() const;  ///< of the clock, since it was created
  model::RequestId next_request() { return ++last_request_; }

  /// Hands everything to the kernel and closes the file: complete afterwards. Errors: it is closed
  /// already, the host could not keep it.
  Result<Sealed> seal();
  /// As if it had never been: for a load that is refused after all.
  void discard();

  void submitted(model::DeviceId device, model::TimeNs at, const model::Request& request) override;
  void acknowledged(model::DeviceId device, const model::Completion& completion) override;
  void media_written(model::DeviceId device, model::TimeNs at,
                     const model::MediaWrite& media) override;
  void incident(model::DeviceId device, model::TimeNs at, std::string_view text) override;
  void marked(model::TimeNs at, std::string_view text) override;
  void power_changed(model::TimeNs at, model::PowerState state) override;

 private:
  StageRecording(std::filesystem::path path, std::unique_ptr<record::RecordingWriter> writer,
                 Clock clock);
  template <typename Append>
  void append(Append event);

  std::filesystem::path path_;
  std::unique_ptr<record::RecordingWriter> writer_;  ///< null once it is sealed
  std::optional<Error> error_;
  std::uint64_t events_ = 0;
  model::RequestId last_request_ = 0;
  Clock clock_;
  model::TimeNs begun_;
};

}  // namespace headcrash::stages
