#include "plugin/stages/stage_recording.h"

#include <chrono>
#include <utility>

namespace headcrash::stages {
namespace {

model::TimeNs host_time() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

StageRecording::StageRecording(std::filesystem::path path,
                               std::unique_ptr<record::RecordingWriter> writer, Clock clock)
    : path_(std::move(path)),
      writer_(std::move(writer)),
      clock_(clock ? std::move(clock) : host_time),
      begun_(clock_()) {}

Result<std::unique_ptr<StageRecording>> StageRecording::create(
    const std::filesystem::path& path, const record::RecordingHeader& header, Clock clock) {
  TRY(auto writer, record::RecordingWriter::create(path, header));
  return std::unique_ptr<StageRecording>(
      new StageRecording(path, std::move(writer), std::move(clock)));
}

model::TimeNs StageRecording::now() const {
  return clock_() - begun_;
}

template <typename Append>
void StageRecording::append(Append event) {
  if (!writer_ || error_) return;
  event(*writer_);
  error_ = writer_->error();
  if (!error_) ++events_;
}

Result<Sealed> StageRecording::seal() {
  if (!writer_)
    return fail(path_, "is already complete",
                "load a state with \"record\" to start another recording");
  if (auto flushed = writer_->flush(); !flushed && !error_) error_ = flushed.error();
  const Sealed sealed{events_, writer_->bytes()};
  writer_.reset();
  if (error_) return tl::unexpected<Error>(*error_);
  return sealed;
}

void StageRecording::discard() {
  writer_.reset();
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

void StageRecording::submitted(model::DeviceId device, model::TimeNs at,
                               const model::Request& request) {
  append([&](auto& writer) { writer.submitted(device, at, request); });
}
void StageRecording::acknowledged(model::DeviceId device, const model::Completion& completion) {
  append([&](auto& writer) { writer.acknowledged(device, completion); });
}
void StageRecording::media_written(model::DeviceId device, model::TimeNs at,
                                   const model::MediaWrite& media) {
  append([&](auto& writer) { writer.media_written(device, at, media); });
}
void StageRecording::incident(model::DeviceId device, model::TimeNs at, std::string_view text) {
  append([&](auto& writer) { writer.incident(device, at, text); });
}
void StageRecording::marked(model::TimeNs at, std::string_view text) {
  append([&](auto& writer) { writer.marked(at, text); });
}
void StageRecording::power_changed(model::TimeNs at, model::PowerState state) {
  append([&](auto& writer) { writer.power_changed(at, state); });
}

}  // namespace headcrash::stages
