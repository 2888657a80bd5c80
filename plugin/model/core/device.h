#pragma once
// The one interface of all emulated hardware: drives, arrays, caches, and anything stacked of them.
//
//   initiator --submit(Request)--> Device --(events in model time)--> initiator.completed(Completion)
//                                    |
//                                    +--> Observer: everything that a recording or a statistic needs to know
//                                    +--> SectorStore: bytes, at the instant they reach the medium
//
// Rules that every device keeps:
//  * submit() takes the request at simulation.now() and never completes it before it returns; the
//    completion comes from an event, exactly once, also when the power goes (Status::power_lost) or
//    the device is off.
//  * The buffers of a request stay valid until its completion; a device copies what it keeps for
//    longer.
//  * A read sees every write whose completion came before the read was submitted. Overlapping
//    requests that
//    are in flight together may be served in any order, as with real hardware.
//  * flush completes when every write and trim that had completed before the flush was submitted is
//    durable.
//    A write with fua completes when it is itself durable.
//  * A trim is as durable as a write of zeroes: before a flush covers it a power cut may undo it,
//    wholly or
//    in part, since real drives keep such changes of their maps in volatile memory for a while. The
//    emulated drives put it on the medium at its completion, which is allowed; of a recording,
//    crash states by writes (w...) lose unflushed trims, too.
//  * Each device reports its own submissions, acknowledgements and media writes to the Observer
//    under its own
//    DeviceId, the members of an array included, so that a recording can rebuild every medium at
//    any instant.
//  * power_cut() freezes the device at simulation.now(): what had reached the medium stays,
//    physical sector
//    by physical sector; the sector being written is torn; the volatile cache is gone; requests in
//    flight complete with power_lost. power_on() brings it back, after its own recovery if it has
//    one.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "plugin/model/core/simulation.h"
#include "plugin/model/core/store.h"

namespace headcrash::model {

using DeviceId = std::uint16_t;  ///< index into the machine's list of devices, members included
using RequestId =
    std::uint64_t;  ///< unique in a machine, rising in order of submission; 0 means none

enum class Op : std::uint8_t { read, write, flush, trim, write_zeroes };

struct Request {
  RequestId id = 0;
  Op op = Op::read;
  bool fua = false;                 ///< write, write_zeroes: complete only when durable
  std::uint64_t lba = 0;            ///< first sector; 0 for flush
  std::uint32_t sectors = 0;        ///< length; 0 for flush
  std::span<std::byte> into;        ///< read: filled at completion; empty when only times matter
  std::span<const std::byte> data;  ///< write: the bytes; empty when only times matter
};

enum class Status : std::uint8_t {
  ok,
  power_lost,    ///< the device is off or went off before the request was complete
  medium_error,  ///< a sector could not be read or written
  out_of_range,  ///< the request reaches beyond the last sector
  /// the host's own storage failed (disk full): the run must not be trusted any further
  store_error,
  device_failed,  ///< the device is dead, or an array has lost more members than it can do without
};

/// Where the time of one request went. Sums to at most the response time; the rest is waiting in a
/// queue.
struct Breakdown {
  TimeNs overhead_ns = 0;  ///< command, bus and controller
  TimeNs seek_ns = 0;      ///< arm movement or head switch, with write settling
  TimeNs rotation_ns = 0;  ///< waiting for the first sector
  TimeNs transfer_ns = 0;  ///< at the medium, with track and cylinder switches on the way
  std::uint32_t seek_cylinders = 0;
  bool cache_hit = false;  ///< served without the medium
};

struct Completion {
  RequestId id = 0;
  Status status = Status::ok;
  TimeNs submitted_at = 0;
  TimeNs completed_at = 0;  ///< model time; the shim compares its own with this one
  Breakdown breakdown;
};

/// Whoever issues requests. It must outlive every request that it has submitted. completed() is
/// called once per request, from an event; it may submit further requests and may cut the power,
/// and must not wait.
class Initiator {
 public:
  virtual ~Initiator() = default;
  virtual void completed(const Completion& completion) = 0;
};

/// One run of sectors that has reached (or half reached) the medium. `written` holds the bytes of
/// its source at the same LBAs (zeroes where the source is a trim or write_zeroes); after any other
/// outcome only `bytes` says what is there.
struct MediaWrite {
  enum class Outcome : std::uint8_t {
    written,
    torn,  ///< part old, part new, without notice
    /// the power went, or a fault came, in the middle: reading gives medium_error until it is
    unreadable,
    ///< written again
    misdirected,  ///< the bytes of another LBA landed here
    corrupted,    ///< other bytes than were sent
  };
  RequestId source = 0;  ///< the write, trim or write_zeroes these bytes came from (of this device)
  std::uint64_t lba = 0;
  std::uint32_t sectors = 0;
  Outcome outcome = Outcome::written;
  std::span<const std::byte>
      bytes;  ///< what the medium now holds; empty for zeroes and when only times matter
};

/// Sees everything that happens, in the order of model time. Calls come from within submit(),
/// events and power changes, on the thread that drives the simulation. It must outlive the devices
/// that report to it, must not submit requests or change the power, and copies what it keeps: spans
/// and texts are valid during the call only. It has no way to refuse: an observer that cannot
/// record keeps the error for whoever asks it.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void submitted(DeviceId device, TimeNs at, const Request& request) = 0;
  virtual void acknowledged(DeviceId device, const Completion& completion) = 0;
  virtual void media_written(DeviceId device, TimeNs at, const MediaWrite& media) = 0;
  /// What is not a request: a fault fires, a member is failed, a rebuild begins or ends, a battery
  /// runs low. One line.
  virtual void incident(DeviceId device, TimeNs at, std::string_view text) = 0;
};

/// What a host can ask a device about itself.
struct Characteristics {
  std::string profile;                        ///< "hp-c2447"
  std::uint64_t sectors = 0;                  ///< capacity in sectors of 512 bytes
  std::uint32_t physical_sector_sectors = 1;  ///< unit that is written whole, or torn
  bool volatile_cache = false;                ///< a flush is needed for durability
  bool trim = false;                          ///< a trimmed sector reads as zeroes afterwards
  bool fast_zero = false;  ///< write_zeroes costs less than writing as many bytes
  std::uint32_t optimal_sectors =
      0;  ///< preferred length and alignment (a full stripe, a flash page); 0: none
  bool rotational = true;
  std::uint32_t queue_depth = 1;  ///< requests that the device itself looks at together
};

/// Totals since the device was made. Busy: at least one request was inside, or the mechanism was
/// moving.
struct DeviceCounters {
  std::uint64_t reads = 0, writes = 0, flushes = 0, trims = 0;
  std::uint64_t sectors_read = 0, sectors_written = 0;
  std::uint64_t media_writes = 0, media_sectors_written = 0;  ///< operations of the mechanism
  std::uint64_t cache_hits = 0, seeks = 0;
  TimeNs busy_ns = 0;

  /// One request of the host, by its kind and length.
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

/// A device. The rules at the top of this file are part of the interface.
///
///  * Ownership: a device owns what it is stacked on, unless its constructor says otherwise.
///    Simulation,
///    observer and store belong to its maker and outlive it; it outlives its events in the
///    simulation.
///  * Failure: requests fail by their Status only. store_error means that the host's own storage
///    failed.
///  * Threads: none. All calls for one machine come from one thread at a time; the NBD shim holds
///    the
///    machine's lock.
class Device {
 public:
  virtual ~Device() = default;
  /// Valid as long as the device; does not change.
  virtual const Characteristics& characteristics() const = 0;
  virtual DeviceCounters counters() const = 0;
  /// REQUIRES: a new id (Simulation::new_request_id), buffers as long as the request or empty ones.
  /// The request itself is copied. A range beyond the last sector is the caller's to refuse
  /// (Machine::submit does).
  virtual void submit(const Request& request, Initiator& initiator) = 0;
  /// Takes effect at simulation.now(). No effect while the power is off.
  virtual void power_cut() = 0;
  /// Accepts requests from now on; they wait for the device's own recovery. REQUIRES: the power is
  /// off.
  virtual void power_on() = 0;

  /// Since when the device has had nothing left to do, in model time; none while it has: a request
  /// inside, a mechanism that moves, a cache that will write back by itself.
  virtual std::optional<TimeNs> quiet_since() const = 0;

  /// An orderly shutdown: what a battery-backed memory holds is written back, an array is marked
  /// clean. Runs the simulation until that is done, so that it must not be called from an event.
  /// Volatile caches are not its business: a flush of the host empties them. The device can be used
  /// afterwards. Does nothing while the power is off, and gives up when the simulation has no more
  /// events.
  virtual void shut_down() {}

  /// From now on `target.on_event(tag)` happens whenever a write has come to the middle of sector
  /// `lba` on the medium: the sector is under the head. Replaces an earlier watch, ends with the
  /// power. False: this device cannot tell (it has no medium of its own, or one without a head).
  virtual bool watch_media(std::uint64_t /*lba*/, EventTarget& /*target*/, std::uint64_t /*tag*/) {
    return false;
  }
};

}  // namespace headcrash::model
