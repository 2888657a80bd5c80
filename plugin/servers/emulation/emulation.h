#pragma once
// One emulated machine with its storage, its recording, its pacer, and its statistics since the
// last `take`. Connections and the control socket use this class. The class does not depend on any
// protocol.

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "plugin/media/written_map.h"
#include "plugin/profiles/build.h"
#include "plugin/record/backing.h"
#include "plugin/servers/emulation/answer.h"
#include "plugin/servers/emulation/mark_disk.h"
#include "plugin/servers/emulation/pacer.h"
#include "plugin/servers/emulation/settings.h"
#include "plugin/servers/emulation/statistics.h"
#include "plugin/servers/emulation/transport_time.h"

namespace headcrash::emulation {

// The hardware that a server's parameters select: one device hd0 of any profile, or the devices in
// a machine file.

struct Hardware {
  profiles::Plan plan;
  /// The faults in the machine file, followed by those in the parameters.
  std::vector<model::FaultSpec> faults;
};

/// Loads profiles and plans devices. Errors name the parameter.
Result<Hardware> load_hardware(const Settings& settings);

struct PowerStatus {
  model::PowerState power = model::PowerState::on;
  std::uint64_t cuts = 0;
  std::optional<model::TimeNs> last_cut_at;
  std::optional<std::string> armed;  ///< text of the armed trigger; nullopt if none is armed
};

/// A fault that has been added and not yet cleared. The fault may be exhausted, that is, unable to
/// fire again.
struct AddedFault {
  model::FaultSpec spec;
  model::TimeNs at = 0;
};

/// An operator's command to an array.
struct ArrayOrder {
  enum class Verb : std::uint8_t { status, fail, rebuild, scrub, repair, accept, rate };
  Verb verb = Verb::status;
  std::optional<std::string> device;   ///< nullopt for the machine's only array
  std::size_t member = 0;              ///< the member to which `fail` and `rebuild` apply
  std::uint64_t bytes_per_second = 0;  ///< for rate
};

class Emulation {
 public:
  /// Opens the storage and the recording. Errors name the parameter.
  static Result<std::unique_ptr<Emulation>> create(const Settings& settings, Hardware hardware);
  ~Emulation();
  Emulation(const Emulation&) = delete;
  Emulation& operator=(const Emulation&) = delete;

  /// Starts model time. `transport` selects the default transport latency.
  void start(Transport transport);
  /// Sets the number of requests per connection that the server handles concurrently; 0 if unknown.
  /// Used only for the statistics.
  void set_threads(unsigned threads) { threads_ = threads; }
  void shut_down() { pacer_->shut_down(); }
  /// Aborts all waits. If the power is on, shuts the machine down cleanly, so that the contents of
  /// volatile caches reach the medium. Then passes the recording to the kernel. Fails if the
  /// recording is incomplete.
  Result<void> stop();

  // ---- the devices that clients see
  std::size_t device_count() const { return built_.machine->device_count(); }
  const std::string& device_name(std::size_t index) const {
    return built_.machine->device_name(index);
  }
  const model::Characteristics& characteristics(std::size_t index) const {
    return built_.machine->device(index).characteristics();
  }
  const std::string& title(std::size_t index) const { return plan_.devices.at(index).stack->title; }
  /// 16 hex digits, different for each server
  const std::string& instance() const { return instance_; }
  /// Regions that may be nonzero; null if unknown.
  const media::WrittenMap* written(std::size_t index) const { return written_.at(index).get(); }

  /// Serves one request. Returns when the clock says that the request is complete.
  Answer serve(std::size_t device_index, const model::Request& request);
  /// Returns true if serve() does not wait (clock=off). The result may be outdated when serve() is
  /// called, because the clock can change in between.
  bool answers_at_once() const { return pacer_->answers_at_once(); }
  // ---- for virtual time (Clock::Kind::virtual_time): one thread advances the time (pacer.h)
  void submit(std::size_t device_index, const model::Request& request, model::Initiator& initiator);
  bool step(model::TimeNs until) { return pacer_->step(until); }
  std::optional<model::TimeNs> next_event() const { return pacer_->next_event(); }
  model::TimeNs now() const { return pacer_->now(); }
  Answer account(std::size_t device_index, const model::Request& request,
                 const model::Completion& completion);

  /// Serves the mark disk (mark_disk.h), which loses its power together with the machine. A write
  /// records a mark; a read returns instance().
  Answer serve_marks(const model::Request& request);

  /// Records a mark of at most kMarkBytesMax bytes and returns its model time.
  model::TimeNs mark(std::string_view text);
  model::TimeNs cut_power();
  model::TimeNs power_on();
  /// Arms a power cut. Fails if the trigger names something that the machine does not have.
  Result<void> arm(const std::string& text, const model::CutTrigger& trigger);
  void disarm();
  PowerStatus power_status();
  bool has_power() const { return pacer_->has_power(); }
  std::uint64_t power_cuts() const { return pacer_->power_cuts(); }
  Pacer::PowerWait wait_power_off(std::chrono::nanoseconds timeout) {
    return pacer_->wait_power_off(timeout);
  }
  bool wait_for_long_request() { return pacer_->wait_for_long_request(); }
  /// Fails in virtual time, because only the guest advances that time.
  Result<void> set_clock(const Clock& clock);

  // ---- faults and operator commands (operator.cc)
  Result<model::TimeNs> add_fault(const model::FaultSpec& fault);
  /// Clears the faults of one device or, with nullopt, of all devices. `kind` restricts this to one
  /// kind of fault. Returns the number of cleared faults.
  Result<std::size_t> clear_faults(const std::optional<std::string>& device,
                                   std::optional<model::FaultKind> kind);
  std::vector<AddedFault> faults();
  struct ArrayAnswer {
    std::string device;
    model::ArrayStatus status;
  };
  Result<ArrayAnswer> order(const ArrayOrder& order);

  enum class Interval : std::uint8_t { continues, restarts };
  Statistics statistics(Interval afterwards);

 private:
  Emulation() = default;
  /// Records a guest's mark. If the power is off, returns false and records nothing.
  bool mark_of_guest(std::string_view text);
  Result<void> open_backing(const Settings& settings);
  void make_written_maps(bool fresh);
  void note_written(std::size_t device_index, const model::Request& request);
  Result<model::TimeNs> add_fault_now(const model::FaultSpec& fault);
  Result<model::DeviceId> find_array(const std::optional<std::string>& device) const;
  DeviceStatistics device_statistics(model::DeviceId id, const DeviceTotals& totals);

  std::string instance_;
  profiles::Plan plan_;
  std::unique_ptr<record::Backing> backing_;
  profiles::BuiltMachine built_;
  /// For each device: its index among the machine's top-level devices, or kMember if it is below
  /// one.
  std::vector<std::size_t> machine_index_;
  std::vector<std::unique_ptr<media::WrittenMap>> written_;
  std::unique_ptr<Pacer> pacer_;
  std::optional<WallNs> lead_ns_;  ///< nullopt if it has not been calibrated yet
  std::jthread calibration_;
  unsigned threads_ = 0;
  bool stopped_ = false;

  // ---- guarded by the pacer's mutex
  std::string armed_text_;
  std::vector<AddedFault> faults_;
  std::vector<DeviceTotals> totals_before_;  ///< the totals at the start of the interval
  model::TimeNs interval_model_start_ = 0;
  WallNs interval_wall_start_ = 0;
};

}  // namespace headcrash::emulation
