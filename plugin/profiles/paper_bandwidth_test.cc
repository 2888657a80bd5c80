// Tests that models of the drives in two papers reproduce the bandwidths in these papers: transfers
// of whole segments on one drive and on arrays, and the gain from sorting a long queue.
//
// Segments: Rosenblum, "The Design and Implementation of a Log-structured File System", 1992, table
// 4-1, for one Wren IV and for data striped over four and over eight of them. The table shows size
// / (size + 29.5 ms * bandwidth), which for arrays assumes synchronised spindles.
//
// Queues: the same work, section 2.4.3, which cites Seltzer, Chen and Ousterhout, "Disk Scheduling
// Revisited", 1990. If a thousand random requests are sorted by seek and rotation, the efficiency
// rises from around 7 % to 25 % of the disk's bandwidth. Seltzer et al. used a Fujitsu Eagle; the
// dissertation uses the Wren IV.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "plugin/model/core/null_observer.h"
#include "plugin/model/disk/disk.h"
#include "plugin/profiles/build.h"
#include "plugin/profiles/profile.h"
#include "plugin/replay/random_requests.h"
#include "plugin/replay/replay.h"

namespace headcrash::profiles {
namespace {

constexpr std::array<std::uint32_t, 9> kSegmentKib = {32,   64,   128,  256, 512,
                                                      1024, 2048, 4096, 8192};

/// Fractions of the drives' maximum bandwidth that random transfers of whole segments achieve,
/// indexed like kSegmentKib.
struct SegmentRow {
  using Shares = std::array<double, kSegmentKib.size()>;
  std::uint32_t drives = 0;
  Shares printed{};  ///< the values in the dissertation
  Shares synchronised{}, unsynchronised{};
};

/// Fractions of a drive's sustained bandwidth that random 4 KiB writes achieve.
struct QueueRow {
  std::string profile;
  double fcfs = 0;              ///< with one request at a time
  double c_look = 0, sptf = 0;  ///< with a queue of a thousand requests, which the drive sorts
};

constexpr double kWrenBytesPerSecond = 1.3e6;
constexpr double kEagleBytesPerSecond = 1.96e6;
constexpr std::uint32_t kQueued = 1000;
constexpr std::uint64_t kQueuedRequests = 6000;
constexpr std::uint32_t kBlockSectors = 8;

// ---- segments

/// Returns an array of `drives` drives, or the drive itself if there is only one. The stripe unit
/// is 4 KiB, so that the smallest segment (32 KiB) covers eight drives.
std::shared_ptr<const Stack> striped(const std::shared_ptr<const Stack>& drive,
                                     std::uint32_t drives, bool synchronised) {
  if (drives == 1) return drive;
  model::ArrayProfile array;
  array.name = fmt::format("{}-x{}", drive->name, drives);
  array.level = model::RaidLevel::raid0;
  array.members = drives;
  array.stripe_unit_sectors = kBlockSectors;
  array.synchronised_spindles = synchronised;
  auto stack = std::make_shared<Stack>();
  stack->name = array.name;
  stack->profile = array;
  stack->below.assign(drives, drive);
  return stack;
}

Result<double> segment_share(const std::shared_ptr<const Stack>& stack, std::uint32_t drives,
                             std::uint32_t segment_kib, std::uint64_t transfers) {
  TRY(const auto planned, plan({{"hd0", stack, std::nullopt, {}}}));
  model::NullObserver nobody;
  TRY(auto built, build(planned, nobody, {}));
  replay::RandomSpec spec;
  spec.count = transfers;
  spec.blocks = segment_kib * 2;
  spec.reads = 0;
  replay::RandomRequests source(spec, planned.all[0].sectors);
  TRY(const auto totals, replay::replay(*built.machine, source));
  const double seconds = totals.responses.mean_ns() / static_cast<double>(model::kSecondNs);
  return segment_kib * 1024.0 / (seconds * drives * kWrenBytesPerSecond);
}

// ---- queues

/// Keeps `queued` random writes in flight at all times.
class RandomWrites final : public model::Initiator {
 public:
  RandomWrites(model::DiskProfile profile, model::QueuePolicy policy, std::uint32_t queued)
      : disk_(with_queue(profile, policy, queued)), queued_(queued) {}

  double share(double sustained_bytes_per_second) {
    for (std::uint32_t i = 0; i < queued_; ++i) next();
    while (completed_ < kQueuedRequests && simulation_.run_next()) {
    }
    const double seconds =
        static_cast<double>(simulation_.now()) / static_cast<double>(model::kSecondNs);
    return static_cast<double>(completed_ * kBlockSectors * model::kSectorBytes) / seconds /
           sustained_bytes_per_second;
  }

 private:
  model::DiskOptions with_queue(model::DiskProfile& profile, model::QueuePolicy policy,
                                std::uint32_t queued) {
    profile.queue = {queued, policy, 0};
    return {profile, simulation_, observer_};
  }
  void completed(const model::Completion&) override {
    ++completed_;
    next();
  }
  void next() {
    model::Request request;
    request.id = ++submitted_;
    request.op = model::Op::write;
    request.lba = random_.below(disk_.characteristics().sectors / kBlockSectors) * kBlockSectors;
    request.sectors = kBlockSectors;
    disk_.submit(request, *this);
  }

  model::Simulation simulation_;
  model::NullObserver observer_;
  model::Disk disk_;
  std::uint32_t queued_;
  Random random_{1992};
  std::uint64_t submitted_ = 0, completed_ = 0;
};

Result<std::vector<SegmentRow>> measure_segments(std::uint64_t transfers) {
  std::vector<SegmentRow> rows = {{1, {.45, .62, .77, .87, .93, .96, .98, .99, 1.0}, {}, {}},
                                  {4, {.17, .30, .45, .62, .77, .87, .93, .96, .98}, {}, {}},
                                  {8, {.09, .17, .29, .45, .62, .77, .87, .93, .96}, {}, {}}};
  TRY(const auto drive, load_stack("wren-iv"));
  for (SegmentRow& row : rows) {
    for (const bool together : {true, false}) {
      const auto stack = striped(drive, row.drives, together);
      for (std::size_t i = 0; i < kSegmentKib.size(); ++i) {
        TRY(const auto share, segment_share(stack, row.drives, kSegmentKib[i], transfers));
        (together ? row.synchronised : row.unsynchronised)[i] = share;
      }
    }
  }
  return rows;
}

Result<std::vector<QueueRow>> measure_queues() {
  std::vector<QueueRow> rows;
  for (const auto& [name, bytes_per_second] : {std::pair{"fujitsu-eagle", kEagleBytesPerSecond},
                                               std::pair{"wren-iv", kWrenBytesPerSecond}}) {
    TRY(const auto profile, load_profile(name));
    const auto share = [&, rate = bytes_per_second](model::QueuePolicy policy,
                                                    std::uint32_t queued) {
      return RandomWrites(profile, policy, queued).share(rate);
    };
    QueueRow row;
    row.profile = name;
    row.fcfs = share(model::QueuePolicy::fcfs, 1);
    row.c_look = share(model::QueuePolicy::c_look, kQueued);
    row.sptf = share(model::QueuePolicy::sptf, kQueued);
    rows.push_back(row);
  }
  return rows;
}

TEST(SegmentBandwidth, MatchesTheDissertation) {
  const auto rows = measure_segments(200);
  ASSERT_TRUE(rows) << rows.error().message();
  ASSERT_EQ(rows->size(), 3U);
  for (const SegmentRow& row : *rows) {
    for (std::size_t i = 0; i < kSegmentKib.size(); ++i) {
      EXPECT_NEAR(row.synchronised[i], row.printed[i], 0.03)
          << row.drives << " drives, " << kSegmentKib[i];
      if (row.drives == 1) {
        EXPECT_EQ(row.unsynchronised[i], row.synchronised[i]);
      } else {
        EXPECT_LT(row.unsynchronised[i], row.synchronised[i])
            << "a transfer waits for the last of several spindles";
      }
    }
  }
}

TEST(Scheduling, AThousandQueuedWritesReachAQuarterOfTheBandwidth) {
  const auto rows = measure_queues();
  ASSERT_TRUE(rows) << rows.error().message();
  ASSERT_EQ(rows->size(), 2U);
  EXPECT_NEAR((*rows)[0].fcfs, 0.07, 0.015);
  EXPECT_NEAR((*rows)[0].sptf, 0.25, 0.06);
  EXPECT_NEAR((*rows)[1].fcfs, 0.1, 0.015);
  EXPECT_NEAR((*rows)[1].sptf, 0.3, 0.06);
  for (const QueueRow& row : *rows) {
    EXPECT_GT(row.sptf / row.fcfs, 2.8) << row.profile;
    EXPECT_GT(row.sptf, row.c_look) << row.profile;
  }
}

}  // namespace
}  // namespace headcrash::profiles
