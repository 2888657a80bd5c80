#pragma once
// What goes wrong with hardware, on purpose: one specification each, for one leaf device (a drive
// or a flash device) or for the battery of a cache.
//
// Text form, of the plugin's `fault=`, of machine files and of the control socket; the device is
// named as in the recording's list, options follow in any order, each at most once:
//
//   KIND:DEVICE[,lba=N[+COUNT]][,data=HEX][,after-ms=X][,after=N][,times=N][,delay-ms=X][,to=LBA][,op=OP]
//
//   kind               options besides after-ms     what happens
//   latent-error       lba after times              reading the range gives medium_error until it is written
//   dead               lba after times              every command fails (device_failed) from then on
//   slow               lba after times delay-ms op  every command takes delay-ms longer
//   torn-write         lba after times              the write stops in the middle of its last physical
//                                                   sector, silently
//   lost-write         lba after times              ... never reaches the medium and is acknowledged
//   misdirected-write  lba after times to           ... lands at `to` instead
//   corrupted-write    lba after times              ... has some bytes of one sector changed
//   lying-flush        after times                  flush and fua are acknowledged without being done
//   write-error        lba data after times         a write command fails (medium_error), nothing is written
//   flush-error        after times                  a flush command fails (medium_error), nothing is written
//   battery-low, battery-dead                       of a battery-backed cache
//
// `lba` restricts a fault to what touches the range; `after-ms` lets it begin at a model time after
// it was added; `after=N` skips the first N matching operations; `times` bounds how often it fires
// (write faults: once unless said, the others: without end). `delay-ms` and `to` must be given
// where they are allowed. `op=read`, `write`, `flush` or `trim` makes slow wait for commands of
// this kind; zeroes are written, too. `data=HEX` makes write-error wait for the first write whose
// payload contains these bytes (1 to 64 of them, anywhere in it). That write's range is the bad
// place from then on: with times=1 it fails once, without `times` everything that is written there
// later fails too.
//
// Each write fault and each flush that lied is an incident of the recording. What may fire with
// every command (latent-error, dead, slow, write-error, flush-error) is reported the first time and
// then at the 2nd, 4th, 8th, ... firing, with the count.
//
// Sectors that a power cut left unreadable are kept here as well, because they are answered in the
// same way. They live in memory only: a store that is opened again, by another server, has
// forgotten them and reads as the torn bytes beneath.

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
  std::uint64_t sectors = 0;         ///< 0: everywhere
  TimeNs after_ns = 0;               ///< from the moment it is added
  std::uint64_t skip = 0;            ///< matching operations that pass first
  std::uint64_t times = 0;           ///< 0: the kind's default
  TimeNs delay_ns = 0;               ///< slow
  std::uint64_t to_lba = 0;          ///< misdirected_write
  std::vector<std::byte> data = {};  ///< write_error: what the payload contains; empty: any
  std::optional<Op> op = {};         ///< slow: commands of this kind; none: of all
  bool operator==(const FaultSpec&) const = default;
};

/// "torn-write", ...
std::string_view fault_kind_name(FaultKind kind);

/// Errors name the part of the text that is wrong.
Result<FaultSpec> parse_fault(std::string_view text);
/// parse_fault(to_text(f)) is f.
std::string to_text(const FaultSpec& fault);

/// What a write to the medium meets.
struct WriteFault {
  FaultKind kind = FaultKind::lost_write;
  std::uint64_t to_lba = 0;
  std::uint64_t lba = 0;  ///< the part of the write that the fault's range covers
  std::uint32_t sectors = 0;
  std::uint64_t random = 0;  ///< decides where it tears or which bytes change
};

/// The faults of one leaf device or battery. Asked by it at the moment the thing could go wrong;
/// what fires is reported to the observer as an incident.
class DeviceFaults {
 public:
  static constexpr std::size_t kFaultsMax = 1000;  ///< at a time

  DeviceFaults(Simulation& simulation, Observer& observer, DeviceId device, std::uint64_t seed);
  ~DeviceFaults();
  DeviceFaults(const DeviceFaults&) = delete;
  DeviceFaults& operator=(const DeviceFaults&) = delete;

  /// Error: kFaultsMax are there already.
  Result<void> add(const FaultSpec& fault);
  /// Ends the faults of one kind, or all. Sectors that a power cut made unreadable stay so.
  void clear(std::optional<FaultKind> kind = std::nullopt);
  bool any() const { return any_; }  ///< false: none of the questions below needs to be asked

  bool dead(const Request& request);  ///< asked once for each command; counts
  bool is_dead() const;  ///< whether the next command of any kind would meet dead(): then
                         ///< nothing happens in the background either
  TimeNs delay_ns(const Request& request);
  bool lies_about_flush(const Request& request);
  /// A write or flush that ends with medium_error and writes nothing; asked once for each command.
  bool fails(const Request& request);
  /// First sector of the range that cannot be read. A sector for which `cached` is true is not read
  /// from the medium.
  std::optional<std::uint64_t> unreadable(std::uint64_t lba, std::uint32_t sectors,
                                          const std::function<bool(std::uint64_t)>& cached = {});
  std::optional<WriteFault> next_write(std::uint64_t lba, std::uint32_t sectors);
  void make_unreadable(std::uint64_t lba,
                       std::uint32_t sectors);  ///< by a power cut, without a specification
  void written(std::uint64_t lba, std::uint32_t sectors);  ///< heals latent errors
  bool battery(FaultKind state);  ///< battery_low or battery_dead has begun

 private:
  struct State;
  std::unique_ptr<State> state_;
  bool any_ = false;
};

}  // namespace headcrash::model
