#include "harness/guest/block_trace.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "plugin/base/testing/temporary_folder.h"

namespace headcrash::guest {
namespace {

namespace fs = std::filesystem;

/// Simulates tracefs with a directory of ordinary files that have the same names.
class BlockTrace : public testing::Test {
 protected:
  BlockTrace() {
    for (const char* file :
         {"tracing_on", "trace_clock", "buffer_size_kb", "trace", "options/sym-offset"})
      put(file, "");
    for (const char* event : {"block_bio_queue", "block_dirty_buffer", "block_rq_issue"})
      for (const char* file : {"enable", "trigger", "filter"})
        put(fs::path("events/block") / event / file, "");
  }
  void put(const fs::path& file, const std::string& text) {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
  }
  std::string get(const fs::path& file) const {
    std::ifstream opened(root_ / file);
    return {std::istreambuf_iterator<char>(opened), {}};
  }

  const TemporaryFolder folder_;
  const fs::path root_ = folder_ / "tracing";
};

TEST_F(BlockTrace, RecordsStacksAndUsesACounterAsClock) {
  put("trace", "events of an earlier trace");
  ASSERT_TRUE(start_block_trace(64, root_));
  EXPECT_EQ(get("trace_clock"), "counter");
  EXPECT_EQ(get("buffer_size_kb"), "64");
  EXPECT_EQ(get("trace"), "");
  EXPECT_EQ(get("tracing_on"), "1");
  EXPECT_EQ(get("events/block/block_bio_queue/trigger"), "stacktrace if !(rwbs ~ \"R*\")");
  EXPECT_EQ(get("events/block/block_dirty_buffer/trigger"), "stacktrace");
  EXPECT_EQ(get("events/block/block_rq_issue/trigger"), "");
  EXPECT_EQ(get("events/block/block_rq_issue/enable"), "1");
}

TEST_F(BlockTrace, StartsEventsOnlyOfSupportedFileSystems) {
  for (const char* file : {"enable", "trigger", "filter"})
    put(fs::path("events/xfs/xfs_trans_log_buf") / file, "");
  ASSERT_TRUE(start_block_trace(64, root_));
  EXPECT_EQ(get("events/xfs/xfs_trans_log_buf/trigger"), "stacktrace");
  EXPECT_EQ(get("events/xfs/xfs_trans_log_buf/enable"), "1");
  EXPECT_FALSE(fs::exists(root_ / "events/f2fs"));
  ASSERT_TRUE(stop_block_trace([](std::string_view) {}, root_));
  EXPECT_EQ(get("events/xfs/xfs_trans_log_buf/enable"), "0");
}

TEST_F(BlockTrace, StopsAndReturnsWholeLines) {
  std::string text;
  for (int line = 0; line < 60'000; ++line) text += "line " + std::to_string(line) + "\n";
  put("trace", text + "task \x01\xff\n");
  std::string received;
  int pieces = 0;
  ASSERT_TRUE(stop_block_trace(
      [&](std::string_view piece) {
        EXPECT_TRUE(piece.ends_with('\n'));
        received += piece;
        ++pieces;
      },
      root_));
  EXPECT_EQ(received, text + "task ??\n");
  EXPECT_GT(pieces, 1);
  EXPECT_EQ(get("tracing_on"), "0");
  EXPECT_EQ(get("events/block/block_bio_queue/enable"), "0");
  EXPECT_EQ(get("events/block/block_bio_queue/trigger"), "!stacktrace");
}

TEST_F(BlockTrace, AKernelWithoutEventsIsUnsupported) {
  const auto started = start_block_trace(64, (folder_ / "none").string());
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().value, ENOTSUP);
  EXPECT_FALSE(stop_block_trace([](std::string_view) {}, (folder_ / "none").string()));
}

TEST_F(BlockTrace, ListsTheDeviceNumbersOfDisks) {
  put("vdb/dev", "254:16\n");
  put("vda/dev", "254:0\n");
  fs::create_directories(root_ / "broken");
  const auto devices = block_device_numbers(root_);
  ASSERT_EQ(devices.size(), 2U);
  EXPECT_EQ(devices[0].name, "vda");
  EXPECT_EQ(devices[0].number, "254,0");
  EXPECT_EQ(devices[1].number, "254,16");
}

}  // namespace
}  // namespace headcrash::guest
