#pragma once
// A small file system with one inode of each kind, and functions that damage it, for tests of the
// reader and the checker.

#include <fmt/core.h>

#include <memory>

#include "fs-adapters/ufs/format/mkfs.h"
#include "fs-adapters/ufs/testing/image_writer.h"
#include "plugin/media/memory_store.h"

namespace headcrash::ufs {

struct TestTree {
  std::unique_ptr<media::MemoryStore> store;
  InodeNumber docs = 0, deep = 0, small = 0, large = 0, twice = 0, short_link = 0, long_link = 0,
              holes = 0;

  explicit TestTree(const MkfsOptions& options = {.bytes_per_inode = 4096,
                                                  .group_bytes = 1 << 20,
                                                  .time = 1},
                    std::uint64_t bytes = 2 << 20)
      : store(std::move(*media::MemoryStore::create(bytes / kSectorBytes))) {
    const auto made = mkfs(*store, options);
    EXPECT_TRUE(made) << made.error().message();
    ImageWriter writer(*store);
    docs = writer.directory(kRootInode, "docs");
    deep = writer.directory(docs, "deep");
    small = writer.file(docs, "small", "a short file\n");
    large = writer.file(deep, "large", large_content());
    twice = writer.file(kRootInode, "twice", std::string(5000, 't'));
    writer.link(deep, "again", twice);
    short_link = writer.symlink(kRootInode, "short", "docs/small");
    long_link = writer.symlink(kRootInode, "long", std::string(200, 'l'));
    // `far` is the first block that needs three levels of pointers.
    const std::uint64_t far = writer.geometry().blocks_within(2);
    holes = writer.sparse(kRootInode, "holes", (far + 1) * writer.geometry().block_bytes(), far,
                          "far out");
    for (int i = 0; i < 40; ++i)
      writer.file(deep, fmt::format("file-{}", i), std::string(i * 37, 'f'));
    writer.finish();
  }
  static std::string large_content() {
    std::string text;
    for (int i = 0; text.size() < 150'000; ++i) text += fmt::format("line {}\n", i);
    return text;
  }
  std::vector<std::byte> bytes() const {
    std::vector<std::byte> all(store->sectors() * kSectorBytes);
    EXPECT_TRUE(store->read(0, all));
    return all;
  }
};

}  // namespace headcrash::ufs
