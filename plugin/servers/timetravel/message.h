#pragma once
// Messages between a guest in virtual time (user-mode Linux) and the calendar that owns its clock:
// 16 bytes each, little-endian (Linux, include/uapi/linux/um_timetravel.h). Each side acknowledges
// a message before it sends another one. An acknowledgement repeats the message's sequence number.
//
//   guest                              calendar
//   start, get, get_tod       ---->    ack with a time
//   request T                 ---->    ack: it wants to run at T; replaces an earlier request
//   update T                  ---->    ack: the guest's time is T, and it will notify a device
//   wait                      ---->    ack: the guest is idle until the requested time
//   ack                       <----    free_until T: the machine has no event before T
//   ack                       <----    run T: the time is T

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "plugin/base/result.h"

namespace headcrash::timetravel {

inline constexpr std::size_t kMessageBytes = 16;

enum class Op : std::uint32_t {
  ack = 0,
  start = 1,
  request = 2,
  wait = 3,
  get = 4,
  update = 5,
  run = 6,
  free_until = 7,
  get_tod = 8,
};

struct Message {
  Op op = Op::ack;
  std::uint32_t sequence = 0;
  /// A time in nanoseconds, except in a start message. The guest was given a number when it was
  /// started, and its start message returns this number.
  std::uint64_t time = 0;
};

/// Parses a message. Fails if the operation is unknown or is one that a guest never sends.
Result<Message> parse_message(std::span<const std::byte, kMessageBytes> bytes);
std::array<std::byte, kMessageBytes> bytes_of(const Message& message);

}  // namespace headcrash::timetravel
