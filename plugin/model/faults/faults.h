#pragma once
// Deliberate hardware faults. Each specification applies to one leaf device (a drive or a flash
// device) or to the battery of a cache.
//
// Text form, used by the plugin's `fault=`, machine files and the control socket. The device is
// named as in the recording's device list; options follow in any order, each at most once:
//
//   KIND:DEVICE[,lba=N[+COUNT]][,data=HEX][,after-ms=X][,after=N][,times=N][,delay-ms=X][,to=LBA]
//   [,op=OP]
//   kind              options besides after-ms     effect
//   latent-error      lba after times              reads give medium_error until a write
//   dead              lba after times              every command fails (device_failed) from then on
//   slow              lba after times delay-ms op  every command takes delay-ms longer
//   torn-write        lba after times              the write stops within its last physical
//                                                  sector, silently
//   lost-write        lba after times              the write is acknowledged but never stored
//   misdirected-write lba after times to           the write is stored at `to` instead
//   corrupted-write   lba after times              the write changes some bytes of one sector
//   lying-flush       after times                  flush and FUA are acknowledged without effect
//   write-error       lba data after times         a write fails (medium_error), nothing is written
//   flush-error       after times                  a flush fails (medium_error), nothing is written
//   battery-low, battery-dead                      the battery of a cache is low or dead
//
// `lba` restricts a fault to operations that overlap the range. `after-ms` delays the fault by this
// model time, counted from the time at which the fault is added. `after=N` skips the first N
// matching operations. `times` limits how often the fault fires (default: once for write faults,
// without limit for others). `delay-ms` and `to` are required by the kinds that allow them.
// `op=read`, `write`, `flush` or `trim` restricts `slow` to such commands; `write` includes
// write_zeroes. `data=HEX` makes write-error wait for the first write whose payload contains these
// bytes (1 to 64 bytes, at any offset). The range of that write then becomes the faulty range. With
// times=1, only that write fails; without `times`, every later write to the range fails, too.
//
// Each firing of a write fault or a lying flush is an incident in the recording. For faults that
// may fire at every command (latent-error, dead, slow, write-error, flush-error), only the 1st,
// 2nd, 4th, 8th, ... firing is reported, with the count.
//
// Sectors made unreadable by a power cut are also kept here, because their reads fail in the same
// way. This state exists in memory only: if another server opens the store, such sectors read as
// the torn bytes.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plugin/base/result.h"
#include "plugin/model/core/device.h"

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
  write_error,
  flush_error,
  battery_low,
  battery_dead,
};

struct FaultSpec {
  FaultKind kind = FaultKind::latent_error;
  std::string device;
  std::uint64_t lba = 0;
  std::uint64_t sectors = 0;  ///< 0 if the fault may occur at any sector
  TimeNs after_ns = 0;        ///< delay from the time at which the fault is added, in model time
  std::uint64_t skip = 0;     ///< number of matching operations that are skipped
  /// number of times that the fault occurs; 0 for the default of its kind
  std::uint64_t times = 0;
  TimeNs delay_ns = 0;       ///< slow
  std::uint64_t to_lba = 0;  ///< misdirected_write
  /// Bytes that a write's payload must contain for write_error; empty for any payload.
  std::vector<std::byte> data = {};
  /// The kind of request that a slow fault delays; nullopt for all kinds.
  std::optional<Op> op = {};
  bool operator==(const FaultSpec&) const = default;
};

/// Returns the name of a kind, such as "torn-write".
std::string_view fault_kind_name(FaultKind kind);

/// Parses the text form. An error names the part that is wrong.
Result<FaultSpec> parse_fault(std::string_view text);
/// Returns text that parse_fault() parses to an equal FaultSpec.
std::string to_text(const FaultSpec& fault);

/// A write fault that fires at a write to the medium.
struct WriteFault {
  FaultKind kind = FaultKind::lost_write;
  std::uint64_t to_lba = 0;
  std::uint64_t lba = 0;  ///< the first sector of the write that is also in the fault's range
  std::uint32_t sectors = 0;
  std::uint64_t random = 0;  ///< determines where the write tears, or which bytes change
};

/// The faults of one leaf device or battery. The device queries each kind of fault at the point
/// where it could occur. Each firing is reported to the observer as an incident.
class DeviceFaults {
 public:
  static constexpr std::size_t kFaultsMax = 1000;  ///< maximum number of faults at the same time

  DeviceFaults(Simulation& simulation, Observer& observer, DeviceId device, std::uint64_t seed);
  ~DeviceFaults();
  DeviceFaults(const DeviceFaults&) = delete;
  DeviceFaults& operator=(const DeviceFaults&) = delete;

  /// Fails if there are already kFaultsMax faults.
  Result<void> add(const FaultSpec& fault);
  /// Removes all faults, or those of one kind. Sectors that a power cut has made unreadable stay
  /// unreadable.
  void clear(std::optional<FaultKind> kind = std::nullopt);
  /// Returns false if there are no faults; the other functions then need not be called.
  bool any() const { return any_; }

  /// Returns true if the device is dead. Must be called exactly once for each command, because
  /// calls are counted.
  bool dead(const Request& request);
  /// Returns true if the device is now dead for commands of every kind. Background work must then
  /// stop, too.
  bool is_dead() const;
  TimeNs delay_ns(const Request& request);
  bool lies_about_flush(const Request& request);
  /// Returns true if a write or flush must fail with medium_error and write nothing. Must be called
  /// exactly once for each command, because calls are counted.
  bool fails(const Request& request);
  /// Returns the first unreadable sector of the range. Sectors for which `cached` returns true are
  /// ignored, because they are not read from the medium.
  std::optional<std::uint64_t> unreadable(std::uint64_t lba, std::uint32_t sectors,
                                          const std::function<bool(std::uint64_t)>& cached = {});
  std::optional<WriteFault> next_write(std::uint64_t lba, std::uint32_t sectors);
  /// Marks sectors that a power cut has made unreadable. Works even if no fault has been added.
  void make_unreadable(std::uint64_t lba, std::uint32_t sectors);
  void written(std::uint64_t lba, std::uint32_t sectors);  ///< heals latent errors
  /// Returns true if the fault `state`, which is battery_low or battery_dead, has begun.
  bool battery(FaultKind state);

 private:
  struct State;
  std::unique_ptr<State> state_;
  bool any_ = false;
};

}  // namespace headcrash::model
