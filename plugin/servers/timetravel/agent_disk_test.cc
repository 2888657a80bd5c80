// Tests the agent's communication through a disk.
#include "plugin/servers/timetravel/agent_disk.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <vector>

namespace headcrash::timetravel {
namespace {

struct Waiter : model::Initiator {
  void completed(const model::Completion&) override { ++answers; }
  int answers = 0;
};

class AgentDiskTest : public testing::Test {
 protected:
  model::Request transfer(model::Op op) {
    model::Request request{.op = op,
                           .lba = AgentDisk::kStreamSector,
                           .sectors = AgentDisk::kTransferBytes / model::kSectorBytes};
    if (op == model::Op::read) request.into = bytes_;
    if (op == model::Op::write) request.data = bytes_;
    return request;
  }
  std::optional<int> read() {
    std::fill(bytes_.begin(), bytes_.end(), std::byte{0xee});
    return disk_.serve(transfer(model::Op::read), waiter_);
  }
  /// Completes the pending read, and returns the text that the read transferred.
  std::string answered() {
    EXPECT_TRUE(disk_.has_answer());
    if (!disk_.has_answer()) return {};
    disk_.answer_read();
    std::uint32_t length = 0;
    std::memcpy(&length, bytes_.data(), sizeof length);
    EXPECT_LE(length, AgentDisk::kTextBytesMax);
    return {reinterpret_cast<const char*>(bytes_.data()) + 4, length};
  }
  std::optional<int> write(std::string_view text, std::uint32_t length) {
    std::fill(bytes_.begin(), bytes_.end(), std::byte{0});
    std::memcpy(bytes_.data(), &length, sizeof length);
    std::memcpy(bytes_.data() + 4, text.data(), text.size());
    return disk_.serve(transfer(model::Op::write), waiter_);
  }

  AgentDisk disk_;
  Waiter waiter_;
  std::vector<std::byte> bytes_ = std::vector<std::byte>(AgentDisk::kTransferBytes);
};

TEST_F(AgentDiskTest, AReadWaitsForACompleteLine) {
  EXPECT_FALSE(disk_.is_idle());
  EXPECT_EQ(read(), std::nullopt);
  EXPECT_TRUE(disk_.is_idle());
  disk_.from_host("half ");
  EXPECT_TRUE(disk_.is_idle());
  disk_.from_host("a line\nand");
  EXPECT_FALSE(disk_.is_idle());
  EXPECT_EQ(answered(), "half a line\n");
  EXPECT_EQ(waiter_.answers, 1);
  EXPECT_FALSE(disk_.is_idle());
  EXPECT_EQ(read(), std::nullopt);
  EXPECT_TRUE(disk_.is_idle());
  disk_.from_host(" so on\n");
  EXPECT_EQ(answered(), "and so on\n");
}

TEST_F(AgentDiskTest, AReadReturnsAtMostOneLine) {
  disk_.from_host("one\ntwo\n");
  EXPECT_EQ(read(), std::nullopt);
  EXPECT_EQ(answered(), "one\n");
  EXPECT_FALSE(disk_.has_answer());
  EXPECT_EQ(read(), std::nullopt);
  EXPECT_EQ(answered(), "two\n");
}

TEST_F(AgentDiskTest, ALongLineTakesSeveralReads) {
  const std::string line = std::string(150'000, 'x') + "\n";
  disk_.from_host(line);
  std::string all;
  while (all.size() < line.size()) {
    ASSERT_EQ(read(), std::nullopt);
    all += answered();
  }
  EXPECT_EQ(all, line);
  EXPECT_EQ(waiter_.answers, 3);
}

TEST_F(AgentDiskTest, TheAgentsTextIsDeliveredOnce) {
  EXPECT_EQ(write("hello", 5), 0);
  EXPECT_EQ(write(" there\nignored", 7), 0);
  EXPECT_EQ(disk_.take_for_host(), "hello there\n");
  EXPECT_EQ(disk_.take_for_host(), "");
}

TEST_F(AgentDiskTest, RejectsInvalidRequests) {
  EXPECT_EQ(write("x", AgentDisk::kTextBytesMax + 1), EINVAL);
  model::Request aside = transfer(model::Op::write);
  aside.lba = 0;
  EXPECT_EQ(disk_.serve(aside, waiter_), EINVAL);
  EXPECT_EQ(read(), std::nullopt);
  EXPECT_EQ(read(), EBUSY);
  EXPECT_EQ(disk_.take_for_host(), "");
}

TEST_F(AgentDiskTest, APartitionScanReadsZeroes) {
  std::fill(bytes_.begin(), bytes_.end(), std::byte{0xee});
  const std::span<std::byte> block = std::span(bytes_).first(4096);
  EXPECT_EQ(disk_.serve({.op = model::Op::read, .lba = 0, .sectors = 8, .into = block}, waiter_),
            0);
  EXPECT_EQ(block[0], std::byte{0});
  EXPECT_EQ(block[4095], std::byte{0});
  EXPECT_EQ(disk_.serve({.op = model::Op::flush}, waiter_), 0);
  EXPECT_FALSE(disk_.is_idle());
}

TEST_F(AgentDiskTest, APartialLineIsDroppedWhenTheHostDisconnects) {
  disk_.from_host("whole\nhalf");
  disk_.host_left();
  disk_.from_host("new\n");
  EXPECT_EQ(read(), std::nullopt);
  EXPECT_EQ(answered(), "whole\n");
  EXPECT_EQ(read(), std::nullopt);
  EXPECT_EQ(answered(), "new\n");
}

TEST_F(AgentDiskTest, TextAndReadsOfAnOldGuestAreDropped) {
  EXPECT_EQ(read(), std::nullopt);
  EXPECT_EQ(write("from the old one\n", 17), 0);
  disk_.guest_left();
  EXPECT_FALSE(disk_.is_idle());
  EXPECT_EQ(disk_.take_for_host(), "");
  // the read of the old guest no longer waits, so this read is accepted
  EXPECT_EQ(read(), std::nullopt);
}

}  // namespace
}  // namespace headcrash::timetravel
