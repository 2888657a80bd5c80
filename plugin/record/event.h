#pragma once
// What a recording is made of.
//
// A recording is a log of everything that happened to a machine, in order: enough to rebuild every medium at
// every instant, and every image that a power cut could have left. One file:
//
//   +--------+--------+--------+-----+--------+
//   | header | event  | event  | ... | event  |      all integers little-endian
//   +--------+--------+--------+-----+--------+
//
//   header:  "HCREC\0\0\1" (8 bytes: magic and format version), u32 length of the JSON text, u32 CRC-32C of
//   it,
//            the text:
//            {"seed":..,"devices":[{"name":..,"profile":..,"sectors":..,"physical_sector_sectors":..}]}
//   event:   u32 payload length, u8 kind, u8 flags, u16 device, u64 request id, i64 model time in ns,
//            u64 lba, u32 sectors, u32 detail, payload, u32 CRC-32C of all before it
//
// A log whose writer died ends in the middle of an event: readers stop at the first event whose length or
// checksum is wrong and say how many bytes they left out. Why these kinds: SUBMIT and ACK are what the host
// knows, MEDIA is what the medium knows (it may come after the ACK, or never); a crash state lies between the
// two. An ACK of a flush with its SUBMIT tells which writes it covers: those acknowledged before it was
// submitted, and no others.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "plugin/model/device.h"

namespace headcrash::record {

enum class Kind : std::uint8_t {
  submit = 1,  ///< flags: op in bits 0-2, fua in bit 7; payload: the data of a write
  ack = 2,     ///< detail: Status
  media =
      3,  ///< request: the write the bytes came from; detail: Outcome; payload unless written or unreadable
  mark = 4,   ///< payload: text
  fault = 5,  ///< payload: what happened, one line (Witness::incident)
  power = 6,  ///< detail: 1 on, 0 off
};

struct Event {
  Kind kind = Kind::mark;
  model::DeviceId device = 0;    ///< mark, power: 0
  model::RequestId request = 0;  ///< mark, power: 0
  model::TimeNs at = 0;
  model::Op op = model::Op::read;  ///< submit
  bool fua = false;                ///< submit
  std::uint64_t lba = 0;           ///< submit, media
  std::uint32_t sectors = 0;       ///< submit, media
  std::uint32_t detail = 0;
  std::vector<std::byte> payload;
};

struct RecordedDevice {
  std::string name;
  std::string profile;
  std::uint64_t sectors = 0;
  std::uint32_t physical_sector_sectors = 1;
};

struct RecordingHeader {
  std::uint64_t seed = 0;
  std::vector<RecordedDevice> devices;
};

}  // namespace headcrash::record
