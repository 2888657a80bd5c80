// Rosenblum's table 4-1 on the emulated hardware: what share of the maximum bandwidth random transfers of
// whole segments reach on a Wren IV and on data striped over four and eight of them ("The Design and
// Implementation of a Log-structured File System", 1992). He computed size / (size + 29.5 ms * bandwidth),
// which for arrays means spindles that turn together; arrays whose spindles do not are printed beside.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <array>
#include <optional>

#include "plugin/profiles/build.h"
#include "plugin/replay/random_requests.h"
#include "plugin/replay/replay.h"

namespace headcrash::profiles {
namespace {

constexpr std::size_t kSizes = 9;  // 32 KiB, 64 KiB, ... 8 MiB
constexpr double kDriveBytesPerSecond = 1.3e6;
constexpr std::uint64_t kSegments = 1000;

struct Row {
  std::uint32_t drives;
  std::array<double, kSizes> printed;
};
constexpr std::array<Row, 3> kTable = {{{1, {.45, .62, .77, .87, .93, .96, .98, .99, 1.0}},
                                        {4, {.17, .30, .45, .62, .77, .87, .93, .96, .98}},
                                        {8, {.09, .17, .29, .45, .62, .77, .87, .93, .96}}}};

struct Nobody : model::MachineWitness {
  void submitted(model::DeviceId, model::TimeNs, const model::Request&) override {}
  void acknowledged(model::DeviceId, const model::Completion&) override {}
  void media_written(model::DeviceId, model::TimeNs, const model::MediaWrite&) override {}
  void incident(model::DeviceId, model::TimeNs, std::string_view) override {}
  void marked(model::TimeNs, std::string_view) override {}
  void power_changed(model::TimeNs, model::PowerState) override {}
};

/// Striped in the smallest units that let the smallest segment reach all of eight drives.
std::shared_ptr<const Stack> striped(std::uint32_t drives, bool synchronised) {
  const auto drive = load_stack("wren-iv");
  EXPECT_TRUE(drive) << drive.error().message();
  if (!drive || drives == 1) return drive ? *drive : nullptr;
  model::ArrayProfile array;
  array.name = fmt::format("wren-x{}", drives);
  array.level = model::RaidLevel::raid0;
  array.members = drives;
  array.stripe_unit_sectors = 8;
  array.synchronised_spindles = synchronised;
  auto stack = std::make_shared<Stack>();
  stack->name = array.name;
  stack->profile = array;
  stack->below.assign(drives, *drive);
  return stack;
}

double share_of_bandwidth(const Row& row, std::size_t size, bool synchronised) {
  const auto planned = plan({{"hd0", striped(row.drives, synchronised), std::nullopt, std::nullopt}});
  if (!planned) return -1;
  Nobody nobody;
  auto built = build(*planned, nobody, {});
  if (!built) return -1;
  replay::RandomSpec spec;
  spec.count = kSegments;
  spec.blocks = 64U << size;
  spec.reads = 0;
  replay::RandomRequests source(spec, planned->all[0].sectors);
  const auto totals = replay::replay(*built->machine, source);
  if (!totals || totals->failed > 0) return -1;
  const double seconds = totals->responses.mean_ns() / static_cast<double>(model::kSecondNs);
  return spec.blocks * 512.0 / (seconds * row.drives * kDriveBytesPerSecond);
}

TEST(SegmentBandwidth, IsThatOfTheDissertation) {
  fmt::print("{:24} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6}\n", "segment KiB", 32, 64, 128, 256,
             512, 1024, 2048, 4096, 8192);
  for (const Row& row : kTable) {
    std::string printed = fmt::format("{:<24}", fmt::format("Wren IV x {}, printed", row.drives));
    std::string together = fmt::format("{:<24}", "  synchronised"),
                apart = fmt::format("{:<24}", "  not synchronised");
    for (std::size_t size = 0; size < kSizes; ++size) {
      const double share = share_of_bandwidth(row, size, true);
      printed += fmt::format(" {:6.2f}", row.printed[size]);
      together += fmt::format(" {:6.3f}", share);
      if (row.drives > 1) apart += fmt::format(" {:6.3f}", share_of_bandwidth(row, size, false));
      EXPECT_NEAR(share, row.printed[size], 0.03) << row.drives << " drives, " << (32U << size) << " KiB";
    }
    fmt::print("{}\n{}\n", printed, together);
    if (row.drives > 1) fmt::print("{}\n", apart);
  }
}

}  // namespace
}  // namespace headcrash::profiles
