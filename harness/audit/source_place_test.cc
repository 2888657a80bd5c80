#include "harness/audit/source_place.h"

#include <gtest/gtest.h>

#include <fstream>

#include "plugin/base/scratch_folder.h"

namespace headcrash::audit {
namespace {

/// Returns the frame of an address of this program.
Frame frame_of(std::uintptr_t address) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    unsigned long begin = 0, end = 0, offset = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx %*s %lx", &begin, &end, &offset) == 3 &&
        address >= begin && address < end)
      return {.object = std::filesystem::read_symlink("/proc/self/exe").string(),
              .offset = address - begin + offset};
  }
  return {};
}

}  // namespace

void known_function_for_a_test() {}

namespace {

TEST(SourcePlace, NamesTheFunctionOfAnAddress) {
  const auto place =
      source_place(frame_of(reinterpret_cast<std::uintptr_t>(&known_function_for_a_test)));
  EXPECT_EQ(place.function, "headcrash::audit::known_function_for_a_test");
}

TEST(SourcePlace, AnUnreadableObjectHasAnOffset) {
  EXPECT_EQ(source_place({.object = "/no/such/store", .offset = 0x212}).text(), "store+0x212");
  EXPECT_EQ(source_place({.object = "", .offset = 0x212}).text(), "generated code");
}

TEST(SourcePlace, DamagedTablesAreIgnored) {
  const auto scratch = base::ScratchFolder::make();
  ASSERT_TRUE(scratch);
  std::ifstream self("/proc/self/exe", std::ios::binary);
  std::string bytes(1 << 16, '\0');
  self.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  std::ofstream(scratch->path() / "cut", std::ios::binary) << bytes;
  const Frame frame{.object = "/cut", .offset = 0x1000};
  EXPECT_EQ(source_place(frame, scratch->path()).line, 0);
}

TEST(SourcePlace, PrefersTheLineToTheFunction) {
  EXPECT_EQ((SourcePlace{.file = "/src/store.c", .line = 212, .function = "commit"}).text(),
            "store.c:212");
  EXPECT_EQ((SourcePlace{.function = "commit", .object = "store"}).text(), "commit (store)");
}

}  // namespace
}  // namespace headcrash::audit
