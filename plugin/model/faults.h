#pragma once
// What goes wrong with hardware, on purpose: one specification each, for one leaf device (a drive or a flash
// device) or for the battery of a cache.
//
// Text form, of the plugin's `fault=`, of machine files and of the control socket; the device is named as in
// the recording's list, options follow in any order:
//
//   KIND:DEVICE[,lba=N[+COUNT]][,after-ms=X][,after=N][,times=N][,delay-ms=X][,to=LBA]
//
//   latent-error   reading the range gives medium_error until it is written again
//   dead           every command fails (device_failed) from then on
//   slow           every command takes delay-ms longer
//   torn-write     the next matching media write stops in the middle of its last physical sector, silently
//   lost-write     ... never reaches the medium and is acknowledged
//   misdirected-write  ... lands at `to=` instead
//   corrupted-write    ... has some of its bytes changed
//   lying-flush    flush and fua are acknowledged without being done
//   battery-low, battery-dead   of a battery-backed cache
//
// `lba` restricts a fault to requests that touch the range; `after-ms` lets it begin at a model time after it
// was added; `after=N` skips the first N matching operations; `times` bounds how often it fires (write
// faults: once unless said, the others: without end).

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plugin/model/device.h"

namespace headcrash::model {

enum class FaultKind : std::uint8_t {
  latent_error,
  dead,
  slow,
  torn_write,
  lost_write,
  misdirected_write,
  corrupted_write,
  lying_flush,
  battery_low,
  battery_dead,
};

struct FaultSpec {
  FaultKind kind = FaultKind::latent_error;
  std::string device;
  std::uint64_t lba = 0;
  std::uint64_t sectors = 0;  ///< 0: everywhere
  TimeNs after_ns = 0;        ///< from the moment it is added
  std::uint64_t skip = 0;     ///< matching operations that pass first
  std::uint64_t times = 0;    ///< 0: the kind's default
  TimeNs delay_ns = 0;        ///< slow
  std::uint64_t to_lba = 0;   ///< misdirected_write
};

/// Errors name the part of the text that is wrong.
Result<FaultSpec> parse_fault(std::string_view text);
std::string to_text(const FaultSpec& fault);

/// What a write to the medium meets.
struct WriteFault {
  FaultKind kind = FaultKind::lost_write;
  std::uint64_t to_lba = 0;
  std::uint64_t random = 0;  ///< decides where it tears or which bytes change
};

/// The faults of one leaf device or battery. Asked by it at the moment the thing could go wrong; what fires
/// is told to the witness as an incident.
class DeviceFaults {
 public:
  DeviceFaults(Simulation& simulation, Witness& witness, DeviceId device, std::uint64_t seed);
  ~DeviceFaults();
  DeviceFaults(const DeviceFaults&) = delete;
  DeviceFaults& operator=(const DeviceFaults&) = delete;

  void add(const FaultSpec& fault);
  void clear(std::optional<FaultKind> kind = std::nullopt);
  bool any() const { return any_; }  ///< false: none of the questions below needs to be asked

  bool dead(const Request& request);
  TimeNs delay_ns(const Request& request);
  bool lies_about_flush(const Request& request);
  /// First sector of the range that cannot be read.
  std::optional<std::uint64_t> unreadable(std::uint64_t lba, std::uint32_t sectors);
  std::optional<WriteFault> next_write(std::uint64_t lba, std::uint32_t sectors);
  void make_unreadable(std::uint64_t lba,
                       std::uint32_t sectors);             ///< by a power cut, without a specification
  void written(std::uint64_t lba, std::uint32_t sectors);  ///< heals latent errors
  bool battery(FaultKind state);                           ///< battery_low or battery_dead has begun

 private:
  struct State;
  std::unique_ptr<State> state_;
  bool any_ = false;
};

}  // namespace headcrash::model
