// Collects the events of a run and writes them at its end (queue_recorder.h).
#include "harness/explorer/in_process/queue_recorder.h"

#include <algorithm>
#include <utility>

namespace headcrash::in_process {

void QueueRecorder::issued(os::RequestId id, const os::BlockRequest& request,
                           const os::Ordering& ordering) {
  rules_.issued(id, request, ordering, events());
  ++under_way_;
  if (request.op != model::Op::write) return;
  writes_under_way_.emplace(id, events_.size());
  events_.push_back({.kind = Event::Kind::submit,
                     .at = executor_.now(),
                     .id = id,
                     .lba = medium_.sector_of(request.lba),
                     .data = {request.data.begin(), request.data.end()}});
}

void QueueRecorder::completed(const os::DiskTrace& request) {
  answered_.wake_all();
  rules_.completed(request.id, events());
  --under_way_;
  const bool failed = request.status != model::Status::ok;
  if (request.op == model::Op::write) {
    if (failed) now_holds_what_it_left(request.id);
    writes_under_way_.erase(request.id);
    events_.push_back({.kind = Event::Kind::ack,
                       .at = executor_.now(),
                       .submitted_at = request.issued_at,
                       .id = request.id});
  }
  if (failed) failed_at_.push_back(events());
}

void QueueRecorder::now_holds_what_it_left(os::RequestId id) {
  const auto submit = writes_under_way_.find(id);
  if (submit == writes_under_way_.end()) return;  // the write was issued before the recording began
  Event& write = events_[submit->second];
  const auto left = medium_.bytes().subspan(write.lba * model::kSectorBytes, write.data.size());
  std::ranges::copy(left, write.data.begin());
}

void QueueRecorder::mark(std::string text) {
  events_.push_back({.kind = Event::Kind::mark, .at = executor_.now(), .text = std::move(text)});
}

void QueueRecorder::write_to(record::RecordingWriter& writer) const {
  for (const Event& event : events_) {
    switch (event.kind) {
      case Event::Kind::submit:
        writer.submitted(
            0, event.at,
            {.id = event.id,
             .op = model::Op::write,
             .fua = true,
             .lba = event.lba,
             .sectors = static_cast<std::uint32_t>(event.data.size() / model::kSectorBytes),
             .data = event.data});
        break;
      case Event::Kind::ack:
        writer.acknowledged(0, {.id = event.id,
                                .status = model::Status::ok,
                                .submitted_at = event.submitted_at,
                                .completed_at = event.at});
        break;
      case Event::Kind::mark:
        writer.marked(event.at, event.text);
        break;
    }
  }
}

}  // namespace headcrash::in_process
