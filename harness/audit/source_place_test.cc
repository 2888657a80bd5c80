#include "harness/audit/source_place.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>

#include "plugin/base/process.h"
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

TEST(SourcePlace, ShowsAnOffsetIfTheObjectIsUnreadable) {
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

TEST(SourcePlace, PrefersTheLineOverTheFunction) {
  EXPECT_EQ((SourcePlace{.file = "/src/store.c", .line = 212, .function = "commit"}).text(),
            "store.c:212");
  EXPECT_EQ((SourcePlace{.function = "commit", .object = "store"}).text(), "commit (store)");
}

TEST(KernelSourceLines, FindsTheLineOfACall) {
  const auto scratch = base::ScratchFolder::make();
  ASSERT_TRUE(scratch);
  std::ofstream(scratch->path() / "store.c")
      << "int commit(int x);\nint commit(int x) {\n  return x + 1;\n}\n"
         "int store(int x);\nint store(int x) {\n  return 2 * commit(x);\n}\n"
         "int main(void) {\n  return store(1);\n}\n";
  const std::string program = (scratch->path() / "store").string();
  const auto built = base::Process::start(
      {.argv = {"cc", "-g", "-O0", "-o", program, (scratch->path() / "store.c").string()}});
  ASSERT_TRUE(built);
  ASSERT_EQ(built->wait(std::chrono::minutes(1)), 0);
  // The size depends on the compiler. The kernel prints it with padding.
  std::string frame;
  for (int size = 16; size < 200 && frame.empty(); size += 16) {
    const std::string text = fmt::format("store+{:#x}/{:#x}", 10, size);
    if (const auto lines = kernel_source_lines({text}, {program}); lines && !lines->empty())
      frame = text;
  }
  ASSERT_NE(frame, "");
  const auto lines =
      kernel_source_lines({frame, "commit+0x4/0x1000", "x+0x1/0x2 [jbd2]"}, {program});
  ASSERT_TRUE(lines) << lines.error().problem;
  EXPECT_EQ(lines->size(), 1U);
  EXPECT_TRUE(lines->at(frame).starts_with("store.c:")) << lines->at(frame);
  EXPECT_TRUE(kernel_source_lines({"gone+0x1/0x2"}, {program})->empty());
  EXPECT_EQ(kernel_source_lines({frame}, {(scratch->path() / "store.c").string()}).error().subject,
            (scratch->path() / "store.c").string());
}

}  // namespace
}  // namespace headcrash::audit
