#pragma once
// Messages between a guest in virtual time (user-mode Linux) and the calendar that owns its clock:
// 16 bytes each way, little endian (Linux, include/uapi/linux/um_timetravel.h). Either side answers
// a message with an ack of the same sequence number before it sends another one of its own.
//
//   guest                              calendar
//   start, get, get_tod       ---->    ack with a time
//   request T                 ---->    ack: wants to run at T; a later request takes its place
//   update T                  ---->    ack: it is T for the guest, which is about to notify a device
//   wait                      ---->    ack: it has nothing to do before what it requested
//   ack                       <----    free_until T: before T nothing will happen that it does not know of; it need not ask
//   ack                       <----    run T: it is T now

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
  std::uint64_t time = 0;  ///< nanoseconds; of start: any number that the guest was given
};

/// Error: it is not an operation of the protocol as it is here, or one that a guest does not send.
Result<Message> parse_message(std::span<const std::byte, kMessageBytes> bytes);
std::array<std::byte, kMessageBytes> bytes_of(const Message& message);

}  // namespace headcrash::timetravel
