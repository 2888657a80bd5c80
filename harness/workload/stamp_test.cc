#include "harness/workload/stamp.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace headcrash::workload {
namespace {

TEST(Stamp, IdentifiesFileVersionAndBlock) {
  std::vector<std::byte> data(3 * kStampBytes);
  write_stamps(7, 2, 4096, data);
  const auto second = read_stamp(std::span(data).subspan(kStampBytes, kStampBytes));
  ASSERT_TRUE(std::holds_alternative<Stamp>(second));
  EXPECT_EQ(std::get<Stamp>(second), (Stamp{7, 2, 9}));
}

TEST(Stamp, WritesRangesThatBeginInsideABlock) {
  std::vector<std::byte> whole(3 * kStampBytes);
  write_stamps(7, 2, 4096, whole);
  for (const std::size_t begin : {1U, 100U, 511U, 512U, 700U}) {
    for (const std::size_t length : {1U, 300U, 600U}) {
      std::vector<std::byte> part(length);
      write_stamps(7, 2, 4096 + begin, part);
      EXPECT_TRUE(
          std::equal(part.begin(), part.end(), whole.begin() + static_cast<std::ptrdiff_t>(begin)))
          << length << " bytes from " << begin;
    }
  }
}

TEST(Stamp, OneWrongByteInvalidatesAStamp) {
  for (std::size_t at = 0; at < kStampBytes; ++at) {
    std::vector<std::byte> data(kStampBytes);
    write_stamp({1, 1, 0}, data);
    data[at] ^= std::byte{0x10};
    EXPECT_TRUE(std::holds_alternative<Foreign>(read_stamp(data))) << "byte " << at;
  }
}

TEST(Stamp, PartialLastBlockIsRecognised) {
  std::vector<std::byte> data(100);
  write_stamp({3, 4, 5}, data);
  EXPECT_EQ(std::get<Stamp>(read_stamp(data)), (Stamp{3, 4, 5}));
}

TEST(Stamp, PriorContentIdentifiesItsSector) {
  std::vector<std::byte> data(2 * kStampBytes + 40);
  write_before_mkfs(77, data);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto block = std::span(data).subspan(
        i * kStampBytes, std::min<std::size_t>(kStampBytes, data.size() - i * kStampBytes));
    EXPECT_EQ(std::get<BeforeMkfs>(read_stamp(block)), BeforeMkfs{77 + i});
  }
  data[300] ^= std::byte{1};
  EXPECT_TRUE(std::holds_alternative<Foreign>(read_stamp(std::span(data).first(kStampBytes))));
}

TEST(Stamp, RecognisesZeroesAndTornBlocks) {
  std::vector<std::byte> data(kStampBytes);
  EXPECT_TRUE(std::holds_alternative<Zeroes>(read_stamp(data)));
  write_stamp({3, 4, 5}, std::span(data).first(200));
  EXPECT_TRUE(std::holds_alternative<Foreign>(read_stamp(data)));
}

}  // namespace
}  // namespace headcrash::workload
