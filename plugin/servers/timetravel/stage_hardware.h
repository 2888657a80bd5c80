#pragma once
// A stage for crash states (plugin/stages/stage.h) as the disks of a guest in virtual time. The
// stage's recording uses that time.
//
//   a read             takes no time
//   a write or flush   takes the stage's AnswerDelay while the stage is recorded, otherwise no time

#include <atomic>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "plugin/servers/timetravel/hardware.h"
#include "plugin/stages/stage.h"

namespace headcrash::timetravel {

class StageHardware final : public Hardware {
 public:
  /// `disk_names` contains the names of the stage's disks; nullopt selects the first disk. Makes
  /// the stage use this object's clock. The stage must outlive this object and must not have been
  /// loaded yet.
  StageHardware(stages::Stage& stage, std::vector<std::optional<std::string>> disk_names);

  std::size_t disk_count() const override { return disk_names_.size(); }
  GuestDisk::Connect disk(std::size_t index) override;
  GuestDisk::Connect marks() override;

  model::TimeNs now() const override { return now_; }
  std::optional<model::TimeNs> next_event() const override { return simulation_.next_event(); }
  bool step(model::TimeNs until) override;

  bool has_power() const override { return true; }
  std::uint64_t power_cuts() const override { return 0; }

 private:
  using Connection = stages::Stage::Connection;

  /// A request that has been performed but has not been answered yet.
  struct PendingRequest final : model::EventTarget {
    PendingRequest(StageHardware& its_hardware, std::shared_ptr<Connection> its_connection,
                   const model::Request& its_request, model::Initiator& its_initiator)
        : hardware(its_hardware),
          connection(std::move(its_connection)),
          request(its_request),
          initiator(its_initiator) {}
    void on_event(std::uint64_t) override;
    StageHardware& hardware;
    std::shared_ptr<Connection> connection;
    model::Request request;
    model::Initiator& initiator;
    int error = 0;
    std::list<PendingRequest>::iterator at;
  };

  stages::Stage& stage_;
  const std::vector<std::optional<std::string>> disk_names_;
  model::Simulation simulation_;
  std::atomic<model::TimeNs> now_ = 0;  ///< the simulation's time, for other threads
  std::list<PendingRequest> inside_;
};

}  // namespace headcrash::timetravel
