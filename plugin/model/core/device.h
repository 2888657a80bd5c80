#pragma once
// The interface of all emulated hardware: drives, arrays, caches, and stacks of them.
//
//    initiator --submit(Request)--> Device --(events in time)--> initiator.completed(Completion)
//                                    |
//                                    +--> Observer: all events for recordings and statistics
//                                    +--> SectorStore: bytes, at the instant they reach the medium
//
// Every device keeps these rules:
//  * submit() accepts the request at simulation.now() and returns before the request completes. The
//    completion comes from an event, exactly once, even after a power cut (Status::power_lost) or
//    if the device is off.
//  * The buffers of a request stay valid until its completion. A device that needs the bytes longer
//    copies them.
//  * A read sees every write that completed before the read was submitted. Overlapping requests in
//    flight may be served in any order, as on real hardware.
//  * A flush completes when every write and trim that completed before its submission is durable.
//    A write with FUA completes when that write is durable.
//  * A trim is as durable as a write of zeroes: until a flush covers it, a power cut may undo it,
//    wholly or in part, because real drives keep such mapping changes in volatile memory for a
//    while. The emulated drives apply a trim to the medium at its completion, which is allowed.
//    In crash states built from the host's writes (w...), unflushed trims may be lost, too.
//  * Each device, including each array member, reports its submissions, acknowledgements and media
//    writes to the Observer under its own DeviceId. A recording can therefore rebuild every medium
//    at any instant.
//  * power_cut() freezes the device at simulation.now(). Physical sectors that have reached the
//    medium stay, the sector being written is torn, the volatile cache is lost, and requests in
//    flight complete with power_lost. power_on() restarts the device. If the device needs a
//    recovery, it serves requests after that.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "plugin/model/core/simulation.h"
#include "plugin/model/core/store.h"

namespace headcrash::model {

/// Index in the machine's list of all devices, including array members.
using DeviceId = std::uint16_t;
/// Unique in a machine, ascending in the order of submission; 0 if unset.
using RequestId = std::uint64_t;

enum class Op : std::uint8_t { read, write, flush, trim, write_zeroes };

struct Request {
  RequestId id = 0;
  Op op = Op::read;
  /// If true, a write or write_zeroes completes only when it is durable.
  bool fua = false;
  std::uint64_t lba = 0;      ///< first sector; 0 for flush
  std::uint32_t sectors = 0;  ///< length of the range; 0 for flush
  /// The buffer that a read fills at completion; empty if only timing matters.
  std::span<std::byte> into;
  std::span<const std::byte> data;  ///< the bytes to write; empty if only timing matters
};

enum class Status : std::uint8_t {
  ok,
  power_lost,    ///< the device is off, or lost power before the request completed
  medium_error,  ///< a sector could not be read or written
  out_of_range,  ///< the request extends past the last sector
  /// The host's own storage failed (disk full); the run's results are invalid.
  store_error,
  device_failed,  ///< the device is dead, or the array has lost too many members
};

/// Parts of a request's response time. The remainder is the time that the request spent in queues.
struct Breakdown {
  TimeNs overhead_ns = 0;  ///< command, bus and controller
  TimeNs seek_ns = 0;      ///< arm movement or head switch, including write settling
  TimeNs rotation_ns = 0;  ///< waiting for the first sector
  TimeNs transfer_ns = 0;  ///< transferring the sectors, including track and cylinder switches
  std::uint32_t seek_cylinders = 0;
  bool cache_hit = false;  ///< served without the medium
};

struct Completion {
  RequestId id = 0;
  Status status = Status::ok;
  TimeNs submitted_at = 0;
  /// Model time. The server sends its answer when its clock reaches this time.
  TimeNs completed_at = 0;
  Breakdown breakdown;
};

/// A source of requests. It must outlive its requests. An event calls completed() once for each
/// request. completed() may submit requests and cut the power, but must not block.
class Initiator {
 public:
  virtual ~Initiator() = default;
  virtual void completed(const Completion& completion) = 0;
};

/// A run of sectors written to the medium, completely or in part. If `outcome` is `written`, the
/// medium holds the bytes of `source` for these LBAs (zeroes for a trim or write_zeroes).
/// Otherwise, the medium holds `bytes`.
struct MediaWrite {
  enum class Outcome : std::uint8_t {
    written,
    torn,  ///< part of the bytes are old, part are new; reads succeed
    /// A power cut or a fault interrupted the write. Reads return medium_error until the next
    /// write.
    unreadable,
    misdirected,  ///< the bytes were written to another LBA than requested
    corrupted,    ///< the bytes differ from those sent
  };
  RequestId source = 0;  ///< the device's write, trim or write_zeroes request that caused this
  std::uint64_t lba = 0;
  std::uint32_t sectors = 0;
  Outcome outcome = Outcome::written;
  /// Contents of the medium. Empty for zeroes, or if only timing matters.
  std::span<const std::byte> bytes;
};

/// Receives all events in the order of model time. The calls come from submit(), from events and
/// from power changes, on the thread that drives the simulation. An observer must outlive the
/// devices that report to it. It must not submit requests or change the power. Spans and strings
/// are valid only during the call. An observer cannot reject an event. If an observer fails to
/// record an event, it keeps the error for its owner.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void submitted(DeviceId device, TimeNs at, const Request& request) = 0;
  virtual void acknowledged(DeviceId device, const Completion& completion) = 0;
  virtual void media_written(DeviceId device, TimeNs at, const MediaWrite& media) = 0;
  /// Reports, in one line, an event other than a request: a fault fires, a member fails, a rebuild
  /// begins or ends, a battery is low.
  virtual void incident(DeviceId device, TimeNs at, std::string_view text) = 0;
};

/// Properties of a device that a host can query.
struct Characteristics {
  std::string profile;                        ///< "hp-c2447"
  std::uint64_t sectors = 0;                  ///< capacity in sectors of 512 bytes
  std::uint32_t physical_sector_sectors = 1;  ///< unit that is either written as a whole or torn
  bool volatile_cache = false;                ///< a flush is needed for durability
  bool trim = false;                          ///< trimmed sectors read as zeroes
  /// True if write_zeroes is faster than a write of the same length.
  bool fast_zero = false;
  /// Preferred length and alignment of requests (a full stripe, a flash page); 0 if there is no
  /// preference.
  std::uint32_t optimal_sectors = 0;
  bool rotational = true;
  std::uint32_t queue_depth = 1;  ///< maximum number of commands among which the device chooses
};

/// Totals since construction.
struct DeviceCounters {
  std::uint64_t reads = 0, writes = 0, flushes = 0, trims = 0;
  std::uint64_t sectors_read = 0, sectors_written = 0;
  /// The following members count internal operations of the device, not host requests.
  std::uint64_t media_writes = 0, media_sectors_written = 0;
  std::uint64_t cache_hits = 0, seeks = 0;
  TimeNs busy_ns = 0;

  /// Counts a host request and its length, by kind of request.
  void count(const Request& request) {
    switch (request.op) {
      case Op::read:
        ++reads;
        sectors_read += request.sectors;
        break;
      case Op::write:
      case Op::write_zeroes:
        ++writes;
        sectors_written += request.sectors;
        break;
      case Op::flush:
        ++flushes;
        break;
      case Op::trim:
        ++trims;
        break;
    }
  }
};

/// An emulated device. The rules at the top of this file are part of the interface.
///
///  * Ownership: a device owns the devices below it, unless its constructor says otherwise. The
///    creator of a device owns the simulation, the observer and the store, which must outlive the
///    device. The device must outlive its events in the simulation.
///  * Failure: requests report failure only by their Status. store_error means that the host's own
///    storage failed.
///  * Threads: none. All calls for one machine come from one thread at a time; the NBD shim holds
///    the machine's lock.
class Device {
 public:
  virtual ~Device() = default;
  /// Returns a reference that is valid for the lifetime of the device. The characteristics never
  /// change.
  virtual const Characteristics& characteristics() const = 0;
  virtual DeviceCounters counters() const = 0;
  /// Copies the request and starts it. REQUIRES: the id is new (Simulation::new_request_id), the
  /// buffers are empty or match the request's length, and the range has been checked (which
  /// Machine::submit does).
  virtual void submit(const Request& request, Initiator& initiator) = 0;
  /// Cuts the power at simulation.now(). Has no effect if the power is off.
  virtual void power_cut() = 0;
  /// Restores the power. Requests are accepted at once, but wait until the device has recovered.
  /// REQUIRES: the power is off.
  virtual void power_on() = 0;

  /// Returns the model time at which the device became idle. Returns nullopt while it has a request
  /// in flight, a moving mechanism, or data to write back.
  virtual std::optional<TimeNs> quiet_since() const = 0;

  /// Shuts down cleanly: writes back battery-backed memory and marks an array clean. Runs the
  /// simulation until the shutdown is complete or no events are left, so it must not be called from
  /// an event. Does not flush volatile caches, which is the host's task. The device can still be
  /// used afterwards. Has no effect while the power is off.
  virtual void shut_down() {}

  /// Calls `target.on_event(tag)` whenever half of sector `lba` has been written to the medium (the
  /// sector is under the head). A new watch replaces the previous one; a power cut ends it. Returns
  /// false if the device has no medium or no head.
  virtual bool watch_media(std::uint64_t /*lba*/, EventTarget& /*target*/, std::uint64_t /*tag*/) {
    return false;
  }
};

}  // namespace headcrash::model
