#pragma once
// The recording that a stage makes of what is done to it, from its load until it is sealed. What comes
// afterwards is not written down.

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>

#include "plugin/record/recording.h"

namespace headcrash::stages {

struct Sealed {
  std::uint64_t events = 0, bytes = 0;
};

class StageRecording final : public model::MachineObserver {
 public:
  /// Refuses an existing file.
  static Result<std::unique_ptr<StageRecording>> create(const std::filesystem::path& path,
                                                        const record::RecordingHeader& header);

  const std::filesystem::path& path() const { return path_; }
  bool is_open() const { return writer_ != nullptr; }
  /// The host could not keep all of it: what it says is not to be trusted beyond its last whole event.
  const std::optional<Error>& error() const { return error_; }
  model::TimeNs now() const;  ///< of the wall, since it was created
  model::RequestId next_request() { return ++last_request_; }

  /// Hands everything to the kernel and closes the file: complete afterwards. Errors: it is closed already,
  /// the host could not keep it.
  Result<Sealed> seal();
  /// As if it had never been: for a load that is refused after all.
  void discard();

  void submitted(model::DeviceId device, model::TimeNs at, const model::Request& request) override;
  void acknowledged(model::DeviceId device, const model::Completion& completion) override;
  void media_written(model::DeviceId device, model::TimeNs at, const model::MediaWrite& media) override;
  void incident(model::DeviceId device, model::TimeNs at, std::string_view text) override;
  void marked(model::TimeNs at, std::string_view text) override;
  void power_changed(model::TimeNs at, model::PowerState state) override;

 private:
  StageRecording(std::filesystem::path path, std::unique_ptr<record::RecordingWriter> writer)
      : path_(std::move(path)), writer_(std::move(writer)) {}
  template <typename Append>
  void append(Append event);

  std::filesystem::path path_;
  std::unique_ptr<record::RecordingWriter> writer_;  ///< null once it is sealed
  std::optional<Error> error_;
  std::uint64_t events_ = 0;
  model::RequestId last_request_ = 0;
  std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
};

}  // namespace headcrash::stages
