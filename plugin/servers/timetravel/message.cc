#include "plugin/servers/timetravel/message.h"

#include <fmt/format.h>

#include "plugin/base/little_endian.h"

namespace headcrash::timetravel {

Result<Message> parse_message(std::span<const std::byte, kMessageBytes> bytes) {
  const std::uint32_t op = little_endian::load32(bytes, 0);
  switch (static_cast<Op>(op)) {
    case Op::ack:
    case Op::start:
    case Op::request:
    case Op::wait:
    case Op::get:
    case Op::update:
    case Op::get_tod:
      return Message{static_cast<Op>(op), little_endian::load32(bytes, 4),
                     little_endian::load64(bytes, 8)};
    default:
      return fail(
          "time-travel message", fmt::format("operation {} is invalid for a guest", op),
          "use a kernel whose include/uapi/linux/um_timetravel.h ends with GET_TOD, as in Linux 6.1 and 6.12");
  }
}

std::array<std::byte, kMessageBytes> bytes_of(const Message& message) {
  std::array<std::byte, kMessageBytes> bytes = {};
  little_endian::store(std::span(bytes), 0, static_cast<std::uint32_t>(message.op));
  little_endian::store(std::span(bytes), 4, message.sequence);
  little_endian::store(std::span(bytes), 8, message.time);
  return bytes;
}

}  // namespace headcrash::timetravel
