#pragma once
// The recording of requests to a stage, from the load of the stage until the recording is sealed.
// Later requests are not recorded.

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
  /// A clock that returns nanoseconds since an arbitrary origin. If empty, the host's clock is
  /// used.
  using Clock = std::function<model::TimeNs()>;
  /// Fails if the file exists.
  static Result<std::unique_ptr<StageRecording>> create(const std::filesystem::path& path,
                                                        const record::RecordingHeader& header,
                                                        Clock clock = {});

  const std::filesystem::path& path() const { return path_; }
  bool is_open() const { return writer_ != nullptr; }
  /// The first host error. If there is one, the recording is valid only up to its last complete
  /// event.
  const std::optional<Error>& error() const { return error_; }
  model::TimeNs now() const;  ///< time since the recording was created, by the recording's clock
  model::RequestId next_request() { return ++last_request_; }

  /// Writes everything to the kernel and closes the file. The recording is then complete. Fails if
  /// the recording is already sealed, or if the host failed to store it.
  Result<Sealed> seal();
  /// Removes the file. Call this if a load is rejected after the file has been created.
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
  std::unique_ptr<record::RecordingWriter> writer_;  ///< null once sealed
  std::optional<Error> error_;
  std::uint64_t events_ = 0;
  model::RequestId last_request_ = 0;
  Clock clock_;
  model::TimeNs begun_;
};

}  // namespace headcrash::stages
