#pragma once
// The format of a recording.
//
// A recording is a log of all events of a machine, in order. The log suffices to rebuild every
// medium at every instant, and every image that a power cut could have left. The log can also be
// the store of the media (log_store.h): each payload is written once, with its SUBMIT, and MEDIA
// events refer to it. A recording is one file; integers are little-endian, and every event begins
// at a multiple of 8:
//
//   0    "HCREC\0\0\2"                      magic and format version
//   8    u32 text bytes, u32 CRC-32C of the text
//   16   two checkpoint slots of 32 bytes:  u64 offset of a checkpoint, u64 generation, u64 bytes
//                                           up to and including it, u32 0, u32 CRC-32C
//   80   the text, padded with zeroes       {"origin":..,"seed":..,"media":..,"devices":[
//                                            {"name":..,"profile":..,"sectors":..,
//                                            "physical_sector_sectors":..,
//                                            "medium":..}]}, and if it has a base
//                                            "base":{"recording":..,"state":..,"fingerprint":..}
//   ..   event, event, ...
//
//   0       4    5     6      8       16   24  32      36     40       48      52
//   +-------+----+-----+------+-------+----+---+-------+------+--------+-------+------+-------+
//   |payload|kind|flags|device|request|time|lba|sectors|detail|bytes at|payload|header|payload|
//   | bytes |    |     |      |       |    |   |       |      |        |CRC    |CRC   |,padded|
//   +-------+----+-----+------+-------+----+---+-------+------+--------+-------+------+-------+
//      u32    u8   u8    u16     u64   i64  u64   u32    u32     u64      u32    u32
//
// The header has its own checksum, so a reader can skip payloads. "Bytes at" is the offset in this
// file of the bytes of a MEDIA event:
//
//   SUBMIT 7: write lba 100, 16 sectors | payload ............ |
//                                            ^ + 8 * 512
//   MEDIA: lba 108, 4 sectors, request 7, ---+            the other 12 follow later, or never
//
// usually inside an earlier SUBMIT. If the medium received bytes other than those sent (torn,
// corrupted), the offset is inside the MEDIA event itself. For zeroes the offset is 0.
//
// SUBMIT and ACK record the host's view. MEDIA records the content of the medium, and may come
// after the ACK or never. A power cut exposes the difference between the two views: writes that
// were acknowledged but have not reached the medium. A flush covers exactly the writes acknowledged
// before the flush was submitted.
//
// If the writer was killed, the log ends in the middle of an event: readers stop there and report
// the number of remaining bytes. A checkpoint (an event that readers skip) has the extent index of
// every medium at that point, so a server can continue a long log without reading all of it.

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
  /// request: id of the source write, or 0; flags: Bytes in bits 0-1, moved in bit 2; detail:
  /// Outcome
  media = 3,
  mark = 4,    ///< payload: text
  fault = 5,   ///< payload: one line of text (Observer::incident)
  power = 6,   ///< detail: 1 on, 0 off
  opened = 7,  ///< a server continues this log; volatile caches are lost
};

/// Location of a MEDIA event's bytes.
enum class Bytes : std::uint8_t {
  none,      ///< unknown, because the run was recorded without data
  referred,  ///< the bytes are at Event::bytes_at, in an earlier event
  zeroes,    ///< the sectors read as zeroes
  carried,   ///< bytes in this event's payload
};

struct Event {
  Kind kind = Kind::mark;
  model::DeviceId device = 0;    ///< 0 for MARK, POWER and OPENED
  model::RequestId request = 0;  ///< 0 for MARK, POWER and OPENED
  model::TimeNs at = 0;
  model::Op op = model::Op::read;  ///< submit
  bool fua = false;                ///< submit
  std::uint64_t lba = 0;           ///< submit, media
  std::uint32_t sectors = 0;       ///< submit, media
  std::uint32_t detail = 0;
  Bytes bytes = Bytes::none;  ///< for MEDIA events: location of the bytes
  bool moved = false;         ///< the log itself moved the bytes; the medium did not change
  /// File offset of the payload, or of the bytes that a MEDIA event refers to.
  std::uint64_t bytes_at = 0;
  std::uint64_t payload_bytes = 0;
  std::vector<std::byte> payload;  ///< empty if skipped (PayloadUse::skip)
  std::uint64_t offset = 0;        ///< file offset of the event
  /// The header's checksum, as read from the file. It also covers the payload, whose checksum is a
  /// field of the header.
  std::uint32_t checksum = 0;
};

struct RecordedDevice {
  std::string name;
  std::string profile;
  std::uint64_t sectors = 0;
  std::uint32_t physical_sector_sectors = 1;
  bool medium = true;  ///< false for an array or a cache, whose bytes are on other devices
};

struct RecordingHeader {
  std::uint64_t seed = 0;
  std::vector<RecordedDevice> devices;
  /// "headcrash", "headcrash stage", or the name of the imported format
  std::string origin = "headcrash";
  /// False if there are no MEDIA events, only the host's requests.
  bool media = true;
  /// The contents of the media before the first event; nullopt for zeroes.
  struct Base {
    std::string recording;  ///< path, relative to the directory of this recording
    std::string state;      ///< name in the format of plugin/states/crash_state.h
    /// Fingerprint of the base's events before the state's cut (RunHistory::fingerprint). A
    /// different fingerprint means that another recording has replaced the base under the same
    /// name. Nullopt in recordings made by older versions of headcrash; the base is then not
    /// checked.
    std::optional<std::uint64_t> fingerprint;
  };
  std::optional<Base> base;
  /// Returns true if the host's device is an array, or a cache above an array, and so has no
  /// medium.
  bool of_array() const { return !devices.empty() && !devices.front().medium; }
  /// Returns the recording's origin as text that is appended to its name in errors.
  std::string provenance() const {
    return origin.starts_with("headcrash") ? "was made on a stage of a state server"
                                           : "was imported from " + origin;
  }
};

}  // namespace headcrash::record
