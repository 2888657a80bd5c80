#pragma once
// What one server emulates: a machine of devices, where their bytes lie, its recording, its pacer
// and the statistics since the last `take`. Everything that clients and the control socket do goes
// through here; nothing here knows a protocol.

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "plugin/media/written_map.h"
#include "plugin/record/backing.h"
#include "plugin/servers/emulation/answer.h"
#include "plugin/servers/emulation/hardware.h"
#include "plugin/servers/emulation/mark_disk.h"
#include "plugin/servers/emulation/pacer.h"
#include "plugin/servers/emulation/settings.h"
#include "plugin/servers/emulation/statistics.h"
#include "plugin/servers/emulation/transport_time.h"

namespace headcrash::emulation {

struct PowerStatus {
  model::PowerState power = model::PowerState::on;
  std::uint64_t cuts = 0;
  std::optional<model::TimeNs> last_cut_at;
  std::optional<std::string> armed;  ///< the trigger's text
};

/// A fault that was added and not cleared since; it may have fired as often as it can.
struct AddedFault {
  model::FaultSpec spec;
  model::TimeNs at = 0;
};

/// What an operator does to an array.
struct ArrayOrder {
  enum class Verb : std::uint8_t { status, fail, rebuild, scrub, repair, accept, rate };
  Verb verb = Verb::status;
  std::optional<std::string> device;   ///< none: the machine's only array
  std::size_t member = 0;              ///< fail, rebuild
  std::uint64_t bytes_per_second = 0;  ///< rate
};

class Emulation {
 public:
  /// Opens store and recording. Errors name the parameter.
  static Result<std::unique_ptr<Emulation>> create(const Settings& settings, Hardware hardware);
  ~Emulation();
  Emulation(const Emulation&) = delete;
  Emulation& operator=(const Emulation&) = delete;

  /// Model time begins. `way`: by which requests and answers travel, unless the settings say how
  /// long they do.
  void start(Way way);
  /// For the statistics: how many requests of a connection the server takes together; 0: not known.
  void set_threads(unsigned threads) { threads_ = threads; }
  void shut_down() { pacer_->shut_down(); }
  /// Ends all waits; parks a machine that has power, as an orderly shutdown does: what volatile
  /// caches hold reaches the medium; hands the recording over. Error: the recording lacks its end.
  Result<void> stop();

  // The machine's devices, which clients see:
  std::size_t device_count() const { return built_.machine->device_count(); }
  const std::string& device_name(std::size_t index) const {
    return built_.machine->device_name(index);
  }
  const model::Characteristics& characteristics(std::size_t index) const {
    return built_.machine->device(index).characteristics();
  }
  const std::string& title(std::size_t index) const { return plan_.devices.at(index).stack->title; }
  const std::string& instance() const { return instance_; }  ///< 16 hex digits, new for each server
  /// Where a device may hold something else than zeroes; null when nobody knows.
  const media::WrittenMap* written(std::size_t index) const { return written_.at(index).get(); }

  /// Serves one request in the clock's time; 0 or an errno.
  Answer serve(std::size_t device_index, const model::Request& request);
  /// Whether serve() answers at once, as with clock=off. It may have changed when it is called.
  bool answers_at_once() const { return pacer_->answers_at_once(); }
  // Virtual time (Clock::Kind::virtual_time): one thread lets it pass (pacer.h).
  void submit(std::size_t device_index, const model::Request& request, model::Initiator& initiator);
  bool step(model::TimeNs until) { return pacer_->step(until); }
  std::optional<model::TimeNs> next_event() const { return pacer_->next_event(); }
  model::TimeNs now() const { return pacer_->now(); }
  Answer account(std::size_t device_index, const model::Request& request,
                 const model::Completion& completion);

  /// The disk that takes marks (mark_disk.h), which hangs on the same cord: reading it gives
  /// instance().
  Answer serve_marks(const model::Request& request);

  model::TimeNs mark(std::string_view text);  ///< at most kMarkBytesMax bytes; the model time
  model::TimeNs cut_power();
  model::TimeNs power_on();
  /// Error: the trigger names what this machine does not have.
  Result<void> arm(const std::string& text, const model::CutTrigger& trigger);
  void disarm();
  PowerStatus power_status();
  bool has_power() const { return pacer_->has_power(); }
  std::uint64_t power_cuts() const { return pacer_->power_cuts(); }
  Pacer::PowerWait wait_power_off(std::chrono::nanoseconds timeout) {
    return pacer_->wait_power_off(timeout);
  }
  bool wait_for_long_request() { return pacer_->wait_for_long_request(); }
  /// Error: it is a guest's virtual time, which nothing else sets.
  Result<void> set_clock(const Clock& clock);

  // Faults and operators (operator.cc). Errors are for whoever asked.
  Result<model::TimeNs> add_fault(const model::FaultSpec& fault);
  /// Of one device or all, of one kind or all; how many were cleared.
  Result<std::size_t> clear_faults(const std::optional<std::string>& device,
                                   std::optional<model::FaultKind> kind);
  std::vector<AddedFault> faults();
  struct ArrayAnswer {
    std::string device;
    model::ArrayStatus status;
  };
  Result<ArrayAnswer> order(const ArrayOrder& order);

  enum class Interval : std::uint8_t { goes_on, starts_anew };
  Statistics statistics(Interval afterwards);

 private:
  Emulation() = default;
  /// False, and no mark, while the power is off.
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
  std::vector<std::size_t> machine_index_;  ///< by id: which of the machine's devices, or kMember
  std::vector<std::unique_ptr<media::WrittenMap>> written_;
  std::unique_ptr<Pacer> pacer_;
  std::optional<WallNs> lead_ns_;  ///< none: to be calibrated
  std::jthread calibration_;
  unsigned threads_ = 0;
  bool stopped_ = false;

  // Under the pacer's mutex:
  std::string armed_text_;
  std::vector<AddedFault> faults_;
  std::vector<DeviceTotals> totals_before_;  ///< at the start of the interval
  model::TimeNs interval_model_start_ = 0;
  WallNs interval_wall_start_ = 0;
};

}  // namespace headcrash::emulation
