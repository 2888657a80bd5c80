// Tests how nbdkit's number of threads is parsed.
#include "plugin/servers/nbd/thread_count.h"

#include <gtest/gtest.h>

namespace headcrash::nbd {
namespace {

TEST(ThreadCount, ParsesNbdkitsCommandLine) {
  EXPECT_EQ(threads_of({"-f", "plugin.so"}), 16U);
  EXPECT_EQ(threads_of({"-t", "48", "plugin.so"}), 48U);
  EXPECT_EQ(threads_of({"-t48"}), 48U);
  EXPECT_EQ(threads_of({"--threads", "3"}), 3U);
  EXPECT_EQ(threads_of({"--threads=5"}), 5U);
  EXPECT_EQ(threads_of({"--threads=0"}), 16U) << "as nbdkit interprets it";
  EXPECT_EQ(threads_of({"-t", "many"}), 0U);
  EXPECT_EQ(threads_of({"-t"}), 0U);
}

}  // namespace
}  // namespace headcrash::nbd
