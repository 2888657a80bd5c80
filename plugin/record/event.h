#pragma once
// What a recording is made of.
//
// A recording is a log of everything that happened to a machine, in order: enough to rebuild every
// medium at every instant, and every image that a power cut could have left. It can also be where
// the bytes of the media lie (log_store.h): each payload is written once, as part of the SUBMIT
// that brought it, and MEDIA events point to it. One file, all integers little-endian, every event
// begins at a multiple of 8:
//
//   0    "HCREC\0\0\2"                      magic and format version
//   8    u32 text bytes, u32 CRC-32C of the text
//   16   two checkpoint slots of 32 bytes:  u64 offset of a checkpoint, u64 its generation,
//                                           u64 file bytes up to and including it, u32 0, u32
//                                           CRC-32C
//   80   the text, padded with zeroes       {"origin":..,"seed":..,"media":..,"devices":[{"name":..,
//                                            "profile":..,"sectors":..,"physical_sector_sectors":..,
//                                            "medium":..}]} and
//                                            "base":{"recording":..,"state":..,"fingerprint":..} if
//                                            it has one
//   ..   event, event, ...
//
//        0      4    5     6      8       16   24  32      36     40       48          52
//   event +------+----+-----+------+-------+----+---+-------+------+--------+-----------+----------+-------+
//        |payload|kind|flags|device|request|time|lba|sectors|detail|bytes at|payload CRC|header CRC|payload|
//        | bytes |    |     |      |       |    |   |       |      |        |           |          |,padded|
//        +------+----+-----+------+-------+----+---+-------+------+--------+-----------+----------+-------+
//         u32     u8   u8    u16    u64    i64 u64  u32     u32     u64      u32         u32
//
// The header has a checksum of its own, so that a reader may walk the events without touching the
// payloads. "Bytes at" is the point of the format: the offset in this same file where the bytes of
// a MEDIA event lie,
//
//   SUBMIT 7: write lba 100, 16 sectors | payload ............ |
//                                            ^ + 8 * 512
//   MEDIA: lba 108, 4 sectors, request 7, ---+                   the other 12 sectors follow later, or never
//
// inside an earlier SUBMIT as a rule, inside the event itself when the medium got other bytes than
// were sent (torn, corrupted), nowhere when it got zeroes.
//
// Why these kinds: SUBMIT and ACK are what the host knows, MEDIA is what the medium knows (it may
// come after the ACK, or never); a crash state lies between the two. An ACK of a flush with its
// SUBMIT says which writes it covers: those acknowledged before it was submitted, and no others.
//
// A log whose writer died ends in the middle of an event: readers stop there and say how many bytes
// they left out. A checkpoint (an event that readers pass over) holds the extent index of every
// medium as it is at that point, so that a server can continue with a log of any length without
// reading all of it.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plugin/model/core/device.h"

namespace headcrash::record {

enum class Kind : std::uint8_t {
  submit = 1,  ///< flags: op in bits 0-2, fua in bit 7; payload: the data of a write
  ack = 2,     ///< detail: Status
  media =
      /// request: the write the bytes came from, 0: none; flags: Bytes in bits 0-1, moved in bit 2;
  3,
  ///< detail: Outcome
  mark = 4,    ///< payload: text
  fault = 5,   ///< payload: what happened, one line (Observer::incident)
  power = 6,   ///< detail: 1 on, 0 off
  opened = 7,  ///< a server continues with this log: what was in volatile caches is gone
};

/// Where the bytes of a MEDIA event are.
enum class Bytes : std::uint8_t {
  none,      ///< nobody knows: the run was made without data
  referred,  ///< at Event::bytes_at, in an earlier event
  zeroes,    ///< the sectors read as zeroes
  carried,   ///< in this event's payload
};

struct Event {
  Kind kind = Kind::mark;
  model::DeviceId device = 0;    ///< mark, power, opened: 0
  model::RequestId request = 0;  ///< mark, power, opened: 0
  model::TimeNs at = 0;
  model::Op op = model::Op::read;  ///< submit
  bool fua = false;                ///< submit
  std::uint64_t lba = 0;           ///< submit, media
  std::uint32_t sectors = 0;       ///< submit, media
  std::uint32_t detail = 0;
  Bytes bytes = Bytes::none;  ///< media
  bool moved = false;  ///< media: the log moved the bytes within itself, the medium did not change
  std::uint64_t bytes_at =
      0;  ///< offset in the file of the bytes: of the payload, or what a MEDIA refers to
  std::uint64_t payload_bytes = 0;
  std::vector<std::byte> payload;  ///< empty when it was passed over (PayloadUse::pass_over)
  std::uint64_t offset = 0;        ///< where the event begins in the file
  std::uint32_t checksum = 0;      ///< as read: of its header, which has that of its payload
};

struct RecordedDevice {
  std::string name;
  std::string profile;
  std::uint64_t sectors = 0;
  std::uint32_t physical_sector_sectors = 1;
  bool medium = true;  ///< false: an array or a cache, whose bytes lie on the devices below it
};

struct RecordingHeader {
  std::uint64_t seed = 0;
  std::vector<RecordedDevice> devices;
  std::string origin = "headcrash";  ///< or "headcrash stage", or the format it was imported from
  bool media = true;                 ///< false: no MEDIA events, only what the host knew
  /// What the media held before the first event; none: zeroes.
  struct Base {
    std::string recording;  ///< path, relative to the folder of this recording
    std::string state;      ///< plugin/states/crash_state.h
    /// Of the base's events before the state's cut (RunHistory::fingerprint), so that another
    /// recording of the same name is not taken for it. None: made by a program that did not know of
    /// it; nothing is compared.
    std::optional<std::uint64_t> fingerprint;
  };
  std::optional<Base> base;
  /// What the host wrote to is not a medium itself: an array, or a cache over one.
  bool of_array() const { return !devices.empty() && !devices.front().medium; }
  /// How it came to be, to follow its name in an error.
  std::string provenance() const {
    return origin.starts_with("headcrash") ? "was made on a stage of a state server"
                                           : "was imported from " + origin;
  }
};

}  // namespace headcrash::record
