// Tests the reuse of buffer memory (buffer_state.h). AddressSanitizer builds do not reuse memory,
// so that any use after a buffer's destruction is detected.
#include <gtest/gtest.h>

#include <utility>

#include "fs-adapters/substrate/os/buffer_state.h"

namespace headcrash::os {
namespace {

#ifdef HEADCRASH_ASAN
TEST(SpareBytesDeathTest, ASanitizerDetectsUseOfAReleasedBuffer) {
  SpareBytes spare;
  std::vector<std::byte> bytes = spare.take(512);
  const volatile std::byte* const old = bytes.data();
  spare.give(std::move(bytes));
  EXPECT_DEATH((void)std::to_integer<int>(*old), "heap-use-after-free");
}
#else
TEST(SpareBytes, AreReusedForABufferOfEqualSize) {
  SpareBytes spare;
  std::vector<std::byte> bytes = spare.take(512);
  const std::byte* const old = bytes.data();
  spare.give(std::move(bytes));
  EXPECT_EQ(spare.take(512).data(), old);
}
#endif

}  // namespace
}  // namespace headcrash::os
