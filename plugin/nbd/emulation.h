#pragma once
// What one server emulates: a machine with a disk hd0, where its bytes lie, its recording, its pacer and the
// statistics since the last `take`. Everything that nbdkit and the control socket do goes through here;
// nothing here knows either of them.

#include <memory>
#include <string>
#include <vector>

#include "plugin/media/memory_store.h"
#include "plugin/media/sparse_file_store.h"
#include "plugin/model/disk_profile.h"
#include "plugin/nbd/pacer.h"
#include "plugin/nbd/settings.h"
#include "plugin/record/recording.h"

namespace headcrash::nbd {

/// Text of a mark, and what the mark export can carry in a sector with its NUL.
inline constexpr std::size_t kMarkBytesMax = 511;

struct PowerStatus {
  model::PowerState power = model::PowerState::on;
  std::uint64_t cuts = 0;
  std::optional<model::TimeNs> last_cut_at;
  std::optional<std::string> armed;  ///< the trigger's text
};

struct DeviceStatistics {
  std::string name;
  std::string profile;
  std::uint64_t sectors = 0;
  model::DeviceCounters counters;  ///< of the interval
  LatencySummary target, achieved, lateness;
};

struct Statistics {
  std::string instance;
  Clock clock;
  WallNs lead_ns = 0;
  model::PowerState power = model::PowerState::on;
  model::TimeNs model_now = 0;
  model::TimeNs interval_model_ns = 0;
  WallNs interval_wall_ns = 0;
  std::optional<std::string> recording_error;
  std::vector<DeviceStatistics> devices;
};

class Emulation {
 public:
  /// Opens store and recording. Errors name the parameter.
  static Result<std::unique_ptr<Emulation>> create(const Settings& settings,
                                                   const model::DiskProfile& profile);
  ~Emulation();
  Emulation(const Emulation&) = delete;
  Emulation& operator=(const Emulation&) = delete;

  void start();
  void shut_down() { pacer_->shut_down(); }
  /// Ends all waits; parks a disk that has power, as an orderly shutdown does: what its cache holds reaches
  /// the medium; closes the recording.
  void stop();

  std::size_t device_count() const { return machine_->device_count(); }
  const std::string& device_name(std::size_t index) const { return machine_->device_name(index); }
  const model::Characteristics& characteristics(std::size_t index) const {
    return machine_->device(index).characteristics();
  }
  const std::string& instance() const { return instance_; }  ///< 16 hex digits, new for each server

  /// Serves one request in the clock's time; 0 or an errno.
  int serve(std::size_t device_index, const model::Request& request);

  model::TimeNs mark(std::string_view text);  ///< at most kMarkBytesMax bytes; the model time
  model::TimeNs cut_power();
  model::TimeNs power_on();
  void arm(const std::string& text, const model::CutTrigger& trigger);
  void disarm();
  PowerStatus power_status();
  Pacer::PowerWait wait_power_off(std::chrono::nanoseconds timeout) {
    return pacer_->wait_power_off(timeout);
  }
  bool wait_for_long_request() { return pacer_->wait_for_long_request(); }
  void set_clock(const Clock& clock) { pacer_->set_clock(clock); }

  enum class Interval : std::uint8_t { goes_on, starts_anew };
  Statistics statistics(Interval afterwards);

 private:
  Emulation() = default;
  Result<void> open_store(const Settings& settings, const model::DiskProfile& profile, std::uint64_t sectors);
  Result<void> open_recording(const Settings& settings, const model::DiskProfile& profile,
                              std::uint64_t sectors);
  void park();

  std::string instance_;
  std::unique_ptr<media::MemoryStore> memory_;
  std::unique_ptr<media::StoreFolder> folder_;
  std::unique_ptr<record::RecordingWriter> recording_;  ///< null: not recorded
  std::unique_ptr<model::MachineWitness> nobody_;       ///< when not recorded
  std::unique_ptr<model::Machine> machine_;
  std::unique_ptr<Pacer> pacer_;
  std::optional<WallNs> lead_ns_;  ///< none: to be calibrated
  std::thread calibration_;
  bool stopped_ = false;

  // Under the pacer's mutex:
  std::string armed_text_;
  std::vector<model::DeviceCounters> counters_before_;  ///< at the start of the interval
  model::TimeNs interval_model_start_ = 0;
  WallNs interval_wall_start_ = 0;
};

}  // namespace headcrash::nbd
