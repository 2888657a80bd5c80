#include "harness/explorer/explain/recorded_series.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "harness/explorer/testing/recorded_disk.h"

namespace headcrash::explorer {
namespace {

using report::TimelineSeries;

constexpr std::int64_t kMs = 1'000'000;

/// Returns a disk with two heads and 1000 cylinders of 2000 sectors.
model::DiskProfile a_disk() {
  model::DiskProfile profile{
      .name = "a-disk", .heads = 2, .cylinders = 1000, .capacity_sectors = 2'000'000};
  profile.zones = {{.track_sectors = 1000}};
  return profile;
}

/// Records events at given times on several devices.
class Machine {
 public:
  Machine(const TemporaryFolder& folder, std::vector<record::RecordedDevice> devices,
          bool media = true)
      : path_(folder / "machine.hcrec") {
    auto writer = record::RecordingWriter::create(
        path_, {.seed = 1, .devices = std::move(devices), .media = media});
    EXPECT_TRUE(writer) << writer.error().message();
    writer_ = std::move(*writer);
  }
  Machine& submit(model::DeviceId device, std::int64_t ms, model::RequestId id, model::Op op,
                  std::uint64_t lba, std::uint32_t sectors) {
    writer_->submitted(device, ms * kMs,
                       {.id = id, .op = op, .lba = lba, .sectors = sectors, .data = data(sectors)});
    return *this;
  }
  Machine& ack(model::DeviceId device, std::int64_t ms, model::RequestId id) {
    writer_->acknowledged(device, {.id = id, .completed_at = ms * kMs});
    return *this;
  }
  Machine& media(model::DeviceId device, std::int64_t ms, model::RequestId id, std::uint64_t lba,
                 std::uint32_t sectors) {
    writer_->media_written(device, ms * kMs,
                           {.source = id, .lba = lba, .sectors = sectors, .bytes = data(sectors)});
    return *this;
  }
  Machine& incident(model::DeviceId device, std::int64_t ms, const std::string& text) {
    writer_->incident(device, ms * kMs, text);
    return *this;
  }
  RecordedSeries series() {
    writer_.reset();
    const auto run = states::RunHistory::load(path_);
    EXPECT_TRUE(run) << run.error().message();
    auto made = recorded_series(**run, [](const std::string& profile) {
      return profile == "a-disk" ? std::make_unique<model::Geometry>(a_disk()) : nullptr;
    });
    EXPECT_TRUE(made) << made.error().message();
    return std::move(*made);
  }

 private:
  std::span<const std::byte> data(std::uint32_t sectors) {
    bytes_.assign(std::size_t{sectors} * 512, std::byte{1});
    return bytes_;
  }
  std::filesystem::path path_;
  std::unique_ptr<record::RecordingWriter> writer_;
  std::vector<std::byte> bytes_;
};

using Values = std::vector<std::pair<std::int64_t, double>>;

/// Returns the values of a series, with times in milliseconds.
Values values_of(const RecordedSeries& all, std::size_t device, const std::string& label) {
  for (const TimelineSeries& each : all.series) {
    if (each.device != device || each.label != label) continue;
    Values values = each.values;
    for (auto& [at, value] : values) at /= kMs;
    return values;
  }
  return {};
}
bool says(const RecordedSeries& all, const std::string& what) {
  return std::ranges::any_of(
      all.notes, [&](const auto& note) { return note.find(what) != std::string::npos; });
}

TEST(RecordedSeries, CountsRequestsBytesAndCacheContents) {
  const TemporaryFolder folder;
  Machine machine(folder, {{"hd0", "a-disk", 100'000, 1}});
  machine.submit(0, 1, 1, model::Op::write, 100, 8)
      .submit(0, 2, 2, model::Op::write, 104, 8)
      .ack(0, 3, 1);
  machine.ack(0, 4, 2);
  // Sectors 104 to 107 are overwritten while they are in the cache. The overwritten sectors must be
  // counted only once.
  machine.media(0, 10, 2, 104, 8).media(0, 11, 1, 100, 4);
  const RecordedSeries all = machine.series();
  EXPECT_EQ(values_of(all, 0, "queue"), (Values{{1, 1}, {2, 2}, {3, 1}, {4, 0}}));
  EXPECT_EQ(values_of(all, 0, "volatile cache"),
            (Values{{1, 0}, {3, 2048}, {4, 6144}, {10, 2048}, {11, 0}}));
  const Values rates = values_of(all, 0, "throughput");
  ASSERT_FALSE(rates.empty());
  double bytes = 0;
  /// `rate` is in bytes/s, and the intervals are 1 ms long
  for (const auto& [at, rate] : rates) bytes += rate / 1000;
  EXPECT_NEAR(bytes, 8192, 1);
}

TEST(RecordedSeries, CountsOverwrittenSectorsOfACacheOnce) {
  const TemporaryFolder folder;
  Machine machine(folder, {{"hd0", "a-disk", 100'000, 1}});
  machine.submit(0, 1, 1, model::Op::write, 100, 8).ack(0, 2, 1);
  machine.submit(0, 3, 2, model::Op::write, 104, 8).ack(0, 4, 2).media(0, 10, 2, 104, 8);
  const RecordedSeries all = machine.series();
  EXPECT_EQ(values_of(all, 0, "volatile cache"),
            (Values{{1, 0}, {2, 4096}, {3, 2048}, {4, 6144}, {10, 2048}}));
}

TEST(RecordedSeries, DerivesTheHeadPositionFromRequests) {
  const TemporaryFolder folder;
  Machine machine(folder, {{"hd0", "a-disk", 2'000'000, 1}});
  machine.submit(0, 1, 1, model::Op::write, 0, 8).ack(0, 2, 1).media(0, 5, 1, 0, 8);
  machine.submit(0, 6, 2, model::Op::read, 1'500'000, 8).ack(0, 9, 2);
  const RecordedSeries all = machine.series();
  const Values head = values_of(all, 0, "head"), seeks = values_of(all, 0, "seeks");
  ASSERT_EQ(head.size(), 2U);
  EXPECT_EQ(head[0], std::pair(std::int64_t{5}, 0.0));
  EXPECT_EQ(head[1].first, 9);
  EXPECT_EQ(head[1].second, 750);
  EXPECT_EQ(seeks, (Values{{9, head[1].second}}));
  EXPECT_TRUE(says(all, "possibly from a cache"));
}

TEST(RecordedSeries, ReportsMissingData) {
  const TemporaryFolder folder;
  Machine machine(folder, {{"hd0", "some-drive", 1000, 1}}, false);
  machine.submit(0, 1, 1, model::Op::write, 0, 8).ack(0, 2, 1);
  const RecordedSeries all = machine.series();
  EXPECT_TRUE(values_of(all, 0, "head").empty());
  EXPECT_TRUE(values_of(all, 0, "volatile cache").empty());
  EXPECT_TRUE(says(all, "no media writes"));
}

TEST(RecordedSeries, NvramDataIsDirtyUntilWrittenToTheDiskBelow) {
  const TemporaryFolder folder;
  Machine machine(folder,
                  {{"hd0", "prestoserve", 100'000, 1, false}, {"hd0.below", "a-disk", 100'000, 1}});
  machine.submit(0, 1, 1, model::Op::write, 0, 16).media(0, 2, 1, 0, 16).ack(0, 2, 1);
  machine.submit(1, 3, 2, model::Op::write, 0, 16);
  machine.submit(0, 4, 3, model::Op::write, 0, 8).media(0, 5, 3, 0, 8).ack(0, 5, 3);
  machine.media(1, 8, 2, 0, 16).ack(1, 9, 2);
  const RecordedSeries all = machine.series();
  EXPECT_EQ(values_of(all, 0, "NVRAM, dirty"), (Values{{2, 8192}, {9, 4096}}))
      << "a sector that was rewritten during its write-back is still dirty";
  EXPECT_TRUE(values_of(all, 0, "head").empty());
  EXPECT_EQ(values_of(all, 1, "head").size(), 0U) << "one position is not a movement";
}

TEST(RecordedSeries, TracksARebuildByTheMembersSequentialWrites) {
  const TemporaryFolder folder;
  Machine machine(folder, {{"hd0", "raid", 10'000, 1, false},
                           {"hd0.0", "a-disk", 10'000, 1},
                           {"hd0.1", "a-disk", 10'000, 1}});
  machine.media(2, 1, 9, 9000, 8).incident(0, 2, "rebuild of member 1 begins");
  machine.media(2, 3, 9, 0, 1000)
      .media(2, 4, 9, 9000, 8)
      .media(1, 5, 9, 0, 1000)
      .media(2, 6, 9, 1000, 1000);
  const RecordedSeries part = [&] {
    machine.incident(0, 7, "member 0 failed").media(2, 8, 9, 2000, 500);
    machine.incident(0, 9, "rebuild of member 1 ended").media(2, 10, 9, 2500, 500);
    return machine.series();
  }();
  EXPECT_EQ(values_of(part, 2, "rebuilt"), (Values{{2, 0}, {3, 512e3}, {6, 1024e3}, {8, 1280e3}}));
  EXPECT_TRUE(values_of(part, 1, "rebuilt").empty());
}

}  // namespace
}  // namespace headcrash::explorer
