// Tests the encoding of the clock messages.
#include "plugin/servers/timetravel/message.h"

#include <gtest/gtest.h>

namespace headcrash::timetravel {
namespace {

TEST(TimeTravelMessage, ContainsOperationSequenceAndTimeInThisOrder) {
  const auto bytes = bytes_of({Op::run, 0x01020304, 0x1112131415161718});
  const std::array<unsigned, kMessageBytes> meant = {
      6, 0, 0, 0, 0x04, 0x03, 0x02, 0x01, 0x18, 0x17, 0x16, 0x15, 0x14, 0x13, 0x12, 0x11};
  for (std::size_t i = 0; i < kMessageBytes; ++i)
    EXPECT_EQ(std::to_integer<unsigned>(bytes[i]), meant[i]);
}

TEST(TimeTravelMessage, ParsesGuestMessages) {
  for (const Op op :
       {Op::ack, Op::start, Op::request, Op::wait, Op::get, Op::update, Op::get_tod}) {
    const auto parsed = parse_message(bytes_of({op, 7, 1'000'000'007}));
    ASSERT_TRUE(parsed);
    EXPECT_EQ(parsed->op, op);
    EXPECT_EQ(parsed->sequence, 7U);
    EXPECT_EQ(parsed->time, 1'000'000'007U);
  }
}

TEST(TimeTravelMessage, UnknownOperationsAreRejected) {
  for (const std::uint32_t op : {6U, 7U, 9U, 0xffffffffU}) {
    const auto parsed = parse_message(bytes_of({static_cast<Op>(op), 1, 0}));
    ASSERT_FALSE(parsed) << op;
    EXPECT_NE(parsed.error().message().find(std::to_string(op)), std::string::npos);
  }
}

}  // namespace
}  // namespace headcrash::timetravel
