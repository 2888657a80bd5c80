// Each operation of the mounted file system, and what is there after an unmount.
#include "fs-adapters/lfs/mounted_test.h"

namespace headcrash::lfs {
namespace {

using bench::Disk;
using bench::Machine;

TEST(LfsFileSystem, AnEmptyOneIsMountedAndUnmounted) {
  Disk disk;
  bench::expect_clean(*disk.store, "made ");
  Machine m(*disk.store);
  m.mount();
  m.unmount();
  bench::expect_clean(*disk.store);
}

TEST(LfsFileSystem, FilesAreThereAfterAnUnmount) {
  Disk disk;
  const std::string small = "hello";
  std::string large(300'000, 'x');
  for (std::size_t i = 0; i < large.size(); i += 7) large[i] = static_cast<char>('a' + i % 26);
  {
    Machine m(*disk.store);
    m.mount();
    m.as_user([&] {
      Vfs& fs = *m.file_system;
      EXPECT_TRUE(fs.mkdir("d", 0755));
      bench::put_file(fs, "d/small", small);
      bench::put_file(fs, "large", large);
      EXPECT_TRUE(fs.symlink("d/small", "way"));
      EXPECT_EQ(bench::get_file(fs, "way"), small);
    });
    m.unmount();
  }
  bench::expect_clean(*disk.store);
  Machine m(*disk.store);
  m.mount();
  m.as_user([&] {
    Vfs& fs = *m.file_system;
    EXPECT_EQ(bench::get_file(fs, "d/small"), small);
    EXPECT_TRUE(bench::get_file(fs, "large") == large);
    EXPECT_EQ(fs.readlink("way").value_or("?"), "d/small");
  });
  m.unmount();
  bench::expect_clean(*disk.store);
}

}  // namespace
}  // namespace headcrash::lfs
