#include "plugin/base/errno_text.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace headcrash::base {
namespace {

TEST(ErrnoText, HasTextAndSymbolicName) {
  EXPECT_EQ(errno_text(ENOSPC), "No space left on device (ENOSPC)");
  EXPECT_EQ(errno_text(EIO), "Input/output error (EIO)");
}

TEST(ErrnoText, DescribesErrorsThatMeanFileSystemDamage) {
  EXPECT_EQ(errno_text(EBADMSG), "wrong checksum (EBADMSG)");
  EXPECT_EQ(errno_text(EUCLEAN), "damaged structure (EUCLEAN)");
}

TEST(ErrnoText, ShowsTheNumberOfAnUnknownError) {
  EXPECT_EQ(errno_text(4000), "error 4000");
}

}  // namespace
}  // namespace headcrash::base
