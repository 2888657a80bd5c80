// Reads the marks, the cut and a sample of the I/O from a recording (recorded_run.h).
#include "harness/campaign/trial/recorded_run.h"

#include <string_view>
#include <unordered_map>

#include "harness/workload/operation.h"
#include "plugin/record/recording.h"

namespace headcrash::campaign {
namespace {

using record::Event;
using record::Kind;

std::string_view text_of(const Event& event) {
  return {reinterpret_cast<const char*>(event.payload.data()), event.payload.size()};
}

const char* op_name(const Event& event) {
  if (event.kind == Kind::media) return "media";
  switch (event.op) {
    case model::Op::read:
      return "read";
    case model::Op::flush:
      return "flush";
    default:
      return "write";
  }
}

/// Samples records by keeping every n-th one. Whenever the sample has twice its target size,
/// doubles n and drops every second record.
class Sample {
 public:
  explicit Sample(std::size_t most) : most_(most) {}

  void add(const Event& event) {
    if (seen_++ % stride_ != 0) return;
    if (event.kind == Kind::submit) waiting_[event.request] = {kept_.size(), event.at};
    kept_.push_back({.at_ms = static_cast<double>(event.at) / model::kNsPerMs,
                     .lba = static_cast<std::int64_t>(event.lba),
                     .sectors = event.sectors,
                     .op = op_name(event),
                     .device = event.device});
    if (kept_.size() >= 2 * most_) thin_out();
  }

  void acknowledge(const Event& event) {
    const auto at = waiting_.find(event.request);
    if (at == waiting_.end()) return;
    const auto [index, submitted] = at->second;
    if (event.detail == 0)
      kept_[index].response_us = static_cast<double>(event.at - submitted) / 1e3;
    waiting_.erase(at);
  }

  std::vector<db::IoRecord> take() {
    if (kept_.size() > most_) thin_out();
    return std::move(kept_);
  }

 private:
  void thin_out() {
    for (std::size_t i = 0; 2 * i < kept_.size(); ++i) kept_[i] = kept_[2 * i];
    kept_.resize((kept_.size() + 1) / 2);
    stride_ *= 2;
    std::erase_if(waiting_, [](const auto& entry) { return entry.second.first % 2 != 0; });
    for (auto& [request, place] : waiting_) place.first /= 2;
  }

  std::size_t most_, seen_ = 0, stride_ = 1;
  std::vector<db::IoRecord> kept_;
  std::unordered_map<model::RequestId, std::pair<std::size_t, model::TimeNs>> waiting_;
};

/// Returns the parent of a device. The name of a member starts with the name of its array or cache,
/// as in hd0.3 or hd0.below. Parents come before their members.
std::optional<std::int64_t> parent_of(const std::string& name,
                                      const std::vector<db::DeviceRecord>& before) {
  const std::size_t dot = name.rfind('.');
  if (dot == std::string::npos) return std::nullopt;
  for (std::size_t i = 0; i < before.size(); ++i)
    if (before[i].name == name.substr(0, dot)) return static_cast<std::int64_t>(i);
  return std::nullopt;
}

void note_mark(const Event& event, RecordedRun& run, bool& sampling) {
  const std::string_view text = text_of(event);
  if (text == "phase workload") sampling = true;
  const auto operation = workload::parse_persisted_mark(text);
  if (run.cut_at_ns || !operation) return;
  run.persisted_operation = operation;
  run.persisted_at_ns = event.at;
}

}  // namespace

Result<RecordedRun> read_recorded_run(const std::filesystem::path& recording, std::size_t io_most) {
  TRY(auto reader, record::RecordingReader::open(recording));
  RecordedRun run;
  for (const record::RecordedDevice& device : reader.header().devices) {
    run.devices.push_back({device.name, device.profile, static_cast<std::int64_t>(device.sectors),
                           parent_of(device.name, run.devices)});
  }
  Sample sample(io_most);
  bool sampling = false;
  while (true) {
    TRY(const auto next, reader.next());
    if (!next) break;
    const Event& event = *next;
    switch (event.kind) {
      case Kind::mark:
        note_mark(event, run, sampling);
        break;
      case Kind::power:
        if (event.detail == 0 && !run.cut_at_ns) run.cut_at_ns = event.at;
        break;
      case Kind::submit:
      case Kind::media:
        if (sampling) sample.add(event);
        break;
      case Kind::ack:
        sample.acknowledge(event);
        break;
      case Kind::fault:
        if (run.incidents.size() < kIncidentsMost)
          run.incidents.push_back({event.at, event.device, std::string(text_of(event))});
        break;
      case Kind::opened:
        break;
    }
  }
  if (reader.truncated_bytes() > 0) {
    return fail(
        recording.string(), "ends in the middle of an event",
        "free some space and repeat the trial; the server was killed, or its disk was full");
  }
  if (!run.cut_at_ns)
    return fail(recording.string(), "contains no power cut", "this is a bug in headcrash");
  run.io = sample.take();
  return run;
}

}  // namespace headcrash::campaign
