// Fuzzes the clock messages of a guest in virtual time, and the requests that its agent sends to
// the agent's disk. The guest may be disconnected or may continue, but the next guest must work
// normally.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "plugin/base/testing/fuzz.h"
#include "plugin/servers/timetravel/testing/served_machine.h"

namespace headcrash::timetravel {
namespace {

std::string text_of(std::initializer_list<Message> messages) {
  std::string text;
  for (const Message& message : messages) {
    const auto bytes = bytes_of(message);
    text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  return text;
}

TEST(Fuzz, GuestsClock) {
  fuzz::Options options;
  options.name = "guests-clock";
  constexpr std::uint64_t kForEver = 0x7fffffffffffffff;
  options.corpus = {text_of({{Op::start, 1, 1},
                             {Op::get, 2, 0},
                             {Op::request, 3, 1000},
                             {Op::wait, 4, 0},
                             {Op::ack, 1, 0}}),
                    text_of({{Op::get_tod, 1, 0}, {Op::request, 2, kForEver}, {Op::wait, 3, 0}}),
                    text_of({{Op::update, 1, 5000},
                             {Op::request, 2, 0},
                             {Op::wait, 3, 0},
                             {Op::ack, 1, 0},
                             {Op::ack, 2, 0}})};
  options.dictionary = {text_of({{Op::wait, 1, 0}}), text_of({{Op::ack, 2, 0}}),
                        text_of({{Op::update, 1, kForEver}})};
  ServedMachine machine;
  std::size_t reported = 0;
  fuzz::run(options, [&](std::string_view input) {
    const base::Descriptor guest = connect(machine.calendar->time_socket());
    static_cast<void>(::send(guest.get(), input.data(), input.size(), MSG_NOSIGNAL));
    ::shutdown(guest.get(), SHUT_WR);
    std::array<char, 4096> bytes;
    std::size_t answered = 0;
    for (ssize_t got = 1; got > 0; answered += static_cast<std::size_t>(std::max<ssize_t>(got, 0)))
      got = ::recv(guest.get(), bytes.data(), bytes.size(), 0);
    const std::string log = machine.log();
    const std::uint64_t kind =
        fuzz::novelty(log.substr(std::min(reported, log.size()))) ^ (answered / kMessageBytes);
    reported = log.size();
    return kind;
  });
  // The fuzzed messages may have advanced the time by any amount. The next guest must still be
  // served.
  const base::Descriptor next = connect(machine.calendar->time_socket());
  const auto ask = bytes_of({Op::get, 7, 0});
  ASSERT_EQ(::send(next.get(), ask.data(), ask.size(), 0), ssize_t{kMessageBytes});
  std::array<std::byte, kMessageBytes> answer = {};
  ASSERT_EQ(::recv(next.get(), answer.data(), answer.size(), MSG_WAITALL), ssize_t{kMessageBytes});
  EXPECT_EQ(parse_message(answer)->sequence, 7U);
}

/// Each byte of the input selects an action: a read or a write by the guest, text from the host, an
/// answer to a read, or a disconnection of the host or the guest. The bytes after a write are the
/// written text.
TEST(Fuzz, AgentsDisk) {
  struct Waiter : model::Initiator {
    void completed(const model::Completion&) override { --waits; }
    int waits = 0;
  };
  fuzz::Options options;
  options.name = "agents-disk";
  options.corpus = {"rh\x06hello\na", "w\x05\x00\x00\x00hello", "rrh\x03x\n\nara", "lgrh\x02xa"};
  options.dictionary = {"r", "a", "h\x01\n", "w\xff\xff\xff\xff", "l", "g"};
  fuzz::run(options, [](std::string_view input) {
    AgentDisk disk;
    Waiter waiter;
    auto bytes = std::make_unique<std::array<std::byte, AgentDisk::kTransferBytes>>();
    std::uint64_t kind = 0;
    constexpr auto kSectors =
        static_cast<std::uint32_t>(AgentDisk::kTransferBytes / model::kSectorBytes);
    while (!input.empty()) {
      const char act = input.front();
      input.remove_prefix(1);
      if (act == 'r') {
        const model::Request read{.op = model::Op::read,
                                  .lba = AgentDisk::kStreamSector,
                                  .sectors = kSectors,
                                  .into = *bytes};
        const auto error = disk.serve(read, waiter);
        waiter.waits += error ? 0 : 1;
        EXPECT_LE(waiter.waits, 1);
        kind = kind * 3 + (error ? 1 : 2);
      } else if (act == 'w') {
        const std::size_t length = std::min(input.size(), bytes->size());
        std::memcpy(bytes->data(), input.data(), length);
        input.remove_prefix(length);
        const model::Request write{.op = model::Op::write,
                                   .lba = AgentDisk::kStreamSector,
                                   .sectors = kSectors,
                                   .data = *bytes};
        kind = kind * 3 + static_cast<std::uint64_t>(*disk.serve(write, waiter));
        EXPECT_LE(disk.take_for_host().size(), AgentDisk::kTextBytesMax);
      } else if (act == 'h' && !input.empty()) {
        const std::size_t length =
            std::min<std::size_t>(static_cast<unsigned char>(input.front()), input.size() - 1);
        disk.from_host(input.substr(1, length));
        input.remove_prefix(1 + length);
      } else if (act == 'a' && disk.has_answer()) {
        EXPECT_EQ(waiter.waits, 1);
        disk.answer_read();
        EXPECT_EQ(waiter.waits, 0);
      } else if (act == 'l') {
        disk.host_left();
      } else if (act == 'g') {
        disk.guest_left();
        waiter.waits = 0;
      }
      EXPECT_FALSE(disk.is_idle() && disk.has_answer());
    }
    return kind;
  });
}

}  // namespace
}  // namespace headcrash::timetravel
