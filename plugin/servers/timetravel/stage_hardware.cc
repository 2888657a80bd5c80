#include "plugin/servers/timetravel/stage_hardware.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include "plugin/servers/emulation/mark_disk.h"

namespace headcrash::timetravel {

StageHardware::StageHardware(stages::Stage& stage,
                             std::vector<std::optional<std::string>> disk_names)
    : stage_(stage), disk_names_(std::move(disk_names)) {
  stage_.use_clock([this] { return now_.load(); });
}

bool StageHardware::step(model::TimeNs until) {
  const auto next = simulation_.next_event();
  const bool due = next && *next <= until;
  if (due) {
    now_ = *next;  // this is the time at which events are recorded
    simulation_.run_next();
  } else {
    simulation_.run_until(std::max(until, simulation_.now()));
    now_ = simulation_.now();
  }
  return due;
}

void StageHardware::PendingRequest::on_event(std::uint64_t) {
  model::Completion completion;
  completion.id = request.id;
  completion.completed_at = hardware.simulation_.now();
  if (connection->answer(request, error) != 0) completion.status = model::Status::store_error;
  initiator.completed(completion);
  hardware.inside_.erase(at);  // destroys this
}

GuestDisk::Connect StageHardware::disk(std::size_t index) {
  return [this, index]() -> Result<GuestDisk::Served> {
    TRY(auto connected, stage_.connect(disk_names_[index]));
    const std::shared_ptr<Connection> connection = std::move(connected);
    const vhost::Disk shape{.name = disk_names_[index].value_or("stage"),
                            .sectors = connection->sectors(),
                            .trim = true,
                            .trim_zeroes = false};  // a trim on a used disk has no effect
    return GuestDisk::Served{
        .shape = shape,
        .serve = [this, connection](const model::Request& request,
                                    model::Initiator& initiator) -> std::optional<int> {
          model::Request own = request;
          const Connection::StartedRequest begun = connection->begin(own);
          if (begun.answer_in.count() == 0) return connection->answer(own, begun.error);
          PendingRequest& inside = inside_.emplace_back(*this, connection, own, initiator);
          inside.at = std::prev(inside_.end());
          inside.error = begun.error;
          const model::TimeNs delay = std::chrono::nanoseconds(begun.answer_in).count();
          simulation_.schedule(simulation_.now() + delay, inside, 0);
          return std::nullopt;
        },
        .account =
            [](const model::Request&, const model::Completion& completion) {
              return completion.status == model::Status::ok ? 0 : EIO;
            }};
  };
}

GuestDisk::Connect StageHardware::marks() {
  const GuestDisk::Served served{
      .shape = {.name = emulation::kMarkDiskName,
                .sectors = emulation::kMarkDiskBytes / model::kSectorBytes},
      .serve = [this](const model::Request& request, model::Initiator&) -> std::optional<int> {
        return emulation::serve_mark_disk(request, stage_).error;
      },
      .account = {}};
  return [served] { return served; };
}

}  // namespace headcrash::timetravel
