// Tests the model's accuracy against measurements of real drives, and the parameters of the
// built-in profiles.
#include "plugin/profiles/validation.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "plugin/profiles/profile.h"
#include "plugin/profiles/stack.h"
#include "plugin/profiles/stream_rates.h"

namespace headcrash::profiles {
namespace {

using model::TimeNs;

struct Bar {
  const char* trace;
  const char* profile;
  double demerit_percent_max;
  double within_1ms_percent_min;
};

class RealDrives : public testing::TestWithParam<Bar> {};

// The limits are slightly above the errors recorded in VALIDATION.md, so that only a change that
// makes the model worse fails the test.
TEST_P(RealDrives, AreModelledWithinTheRecordedAccuracy) {
  const Bar& bar = GetParam();
  const auto file =
      std::filesystem::path(HEADCRASH_REAL_TRACES) / fmt::format("{}.first-half.closed", bar.trace);
  if (!std::filesystem::exists(file)) GTEST_SKIP() << "no trace at " << file;
  const auto profile = load_profile(bar.profile);
  ASSERT_TRUE(profile) << profile.error().message();
  const auto trace = read_closed_trace(file);
  ASSERT_TRUE(trace) << trace.error().message();
  const Agreement agreement = compare(*trace, replay_closed(*profile, *trace));
  EXPECT_EQ(agreement.requests, trace->size());
  EXPECT_LE(agreement.demerit_percent, bar.demerit_percent_max);
  EXPECT_GE(agreement.within_1ms_percent, bar.within_1ms_percent_min);
}

INSTANTIATE_TEST_SUITE_P(All, RealDrives,
                         testing::Values(Bar{"hp_c2247a", "hp-c2247a", 0.61, 95.8},
                                         Bar{"hp_c2490a", "hp-c2490a", 0.7, 95.5},
                                         Bar{"dec_rz26", "dec-rz26", 2.2, 74.0},
                                         Bar{"barracuda", "barracuda-4lp+measured-host", 2.3, 62.0},
                                         Bar{"hp_c3323a", "hp-c3323a", 1.5, 37.5},
                                         Bar{"st41601n", "seagate-st41601n", 0.8, 94.0},
                                         Bar{"cheetah4LP", "cheetah-4lp+measured-host", 4.2, 65.9},
                                         Bar{"atlas_III", "atlas-3+measured-host", 2.6, 52.7},
                                         Bar{"atlas10k", "atlas-10k+measured-host", 2.3, 68.8},
                                         Bar{"cheetah9LP", "cheetah-9lp+measured-host", 2.3, 66.0},
                                         Bar{"ibm18es", "ibm-dnes-309170w+measured-host", 2.3,
                                             64.5}),
                         [](const auto& param) { return std::string(param.param.trace); });

TEST(Compare, DemeritComparesDistributionsButTheShareComparesRequests) {
  std::vector<replay::TraceRequest> trace;
  for (const TimeNs measured_ns : {10'000'000, 20'000'000, 0, 30'000'000}) {
    trace.emplace_back();
    trace.back().measured_ns = measured_ns;
  }
  const Agreement swapped =
      compare(trace, std::array<TimeNs, 4>{30'000'000, 20'500'000, 1, 10'000'000});
  EXPECT_EQ(swapped.requests, 3U) << "an unknown time must not count";
  EXPECT_NEAR(swapped.demerit_percent, 100 * std::sqrt(0.25 / 3) / 20, 1e-9);
  EXPECT_NEAR(swapped.within_1ms_percent, 100.0 / 3, 1e-9);
}

TEST(ClosedTrace, ErrorsNameFileAndLine) {
  const auto file = std::filesystem::temp_directory_path() / "headcrash_validation_test.closed";
  for (const char* wrong :
       {"X Hit 1 2 3.0 4.0", "R Hit 1 0 3.0 4.0", "R Hit 1 2 3.0", "R Hit 1 2 -3.0 4.0"}) {
    std::ofstream(file) << "R Hit 1 2 3.0 4.0\n" << wrong << "\n";
    const auto trace = read_closed_trace(file);
    ASSERT_FALSE(trace) << wrong;
    EXPECT_EQ(trace.error().subject, file.string() + ": line 2");
  }
  std::filesystem::remove(file);
  EXPECT_FALSE(read_closed_trace(file));
}

TEST(BuiltInProfiles, MatchTheKnownFiguresOfTheirDrives) {
  std::map<std::string, ProfileSummary> all;
  for (const ProfileSummary& summary : list_profiles()) all[summary.name] = summary;
  struct Known {
    const char* name;
    double gigabytes, average_seek_ms, rpm, outer_mb_per_second;
  };
  // The average seek times come from data sheets and measurements. The averages of the extracted
  // curves must be within a tenth of these times.
  for (const Known& known :
       std::initializer_list<Known>{{"hp-c2447", 1.05, 11.5, 5400, 4.4},
                                    {"hp-c2247a", 1.05, 11.5, 5400, 4.4},
                                    {"hp-c2490a", 2.13, 9.2, 6398, 5.9},
                                    {"hp-c3323a", 1.05, 9.5, 5396, 5.5},
                                    {"dec-rz26", 1.05, 10.5, 5360, 2.65},
                                    {"dec-rz26l", 1.05, 9.5, 5400, 5.5},
                                    {"barracuda-4lp", 2.10, 9.3, 7200, 11.4},
                                    {"sun-4.2g", 4.21, 9.3, 7200, 11.4},
                                    {"cheetah-4lp", 4.55, 8.0, 10033, 16.7},
                                    {"cheetah-9lp", 9.10, 5.5, 10045, 21.8},
                                    {"ibm-dnes-309170w", 9.17, 7.2, 7200, 24.0},
                                    {"atlas-3", 9.10, 8.3, 7200, 15.7},
                                    {"atlas-10k", 9.18, 5.6, 10025, 28.6},
                                    {"wren-iv", 0.327, 17.5, 3600, 1.41},
                                    {"fujitsu-eagle", 0.576, 18, 3600, 2.06},
                                    {"ibm-60g", 61.5, 9, 7200, 40.8},
                                    {"sata-7200", 4000.8, 7.4, 7200, 226}}) {
    ASSERT_TRUE(all.contains(known.name)) << known.name;
    const ProfileSummary& is = all[known.name];
    EXPECT_NEAR(static_cast<double>(is.capacity_sectors) * 512e-9 / known.gigabytes, 1, 0.01)
        << known.name;
    EXPECT_NEAR(is.average_seek_ms / known.average_seek_ms, 1, 0.1) << known.name;
    EXPECT_NEAR(is.rpm, known.rpm, 1) << known.name;
    EXPECT_NEAR(is.outer_bytes_per_second * 1e-6 / known.outer_mb_per_second, 1, 0.02)
        << known.name;
    EXPECT_GE(is.origins.size(), 9U) << known.name;
  }
}

TEST(StreamRates, AreNearlyEqualForReadsAndCachedWrites) {
  int seen = 0;
  for (const ProfileSummary& summary : list_profiles()) {
    if (summary.kind != "disk") continue;
    const auto drive = load_profile(summary.name);
    const auto stack = load_stack(summary.name);
    ASSERT_TRUE(drive && stack);
    const auto rates = stream_rates(*stack);
    ASSERT_TRUE(rates) << rates.error().message();
    EXPECT_LE(rates->read, summary.outer_bytes_per_second) << summary.name;
    EXPECT_LE(rates->write, summary.outer_bytes_per_second) << summary.name;
    if (!drive->write_cache.on_by_default) continue;
    ++seen;
    EXPECT_GE(rates->write, .95 * rates->read) << summary.name;
  }
  EXPECT_GE(seen, 8);
}

/// Returns the rate of a long sequential transfer in the first zone, in bytes per second. The drive
/// pauses only for the track and cylinder skews.
double streamed_bytes_per_second(const model::DiskProfile& drive) {
  const model::ZoneProfile& zone = drive.zones.front();
  const double skew =
      (zone.track_skew_sectors * (drive.heads - 1.0) + zone.cylinder_skew_sectors) / drive.heads;
  const double share = zone.track_sectors / (zone.track_sectors + skew);
  return share * zone.track_sectors * static_cast<double>(model::kSectorBytes) * 1e12 /
         static_cast<double>(drive.revolution_ps);
}

// Some drives were measured behind a 5 MB/s bus. The profile of the drive itself must not include
// this limit.
TEST(StreamRates, AreNotLimitedByTheBusOfTheMeasurement) {
  const std::string host = "+measured-host";
  int seen = 0;
  for (const ProfileSummary& summary : list_profiles()) {
    if (!summary.name.ends_with(host)) continue;
    ++seen;
    const std::string name = summary.name.substr(0, summary.name.size() - host.size());
    const auto sold = load_stack(name), measured = load_stack(summary.name);
    const auto drive = load_profile(name);
    ASSERT_TRUE(sold && measured && drive);
    const auto own = stream_rates(*sold), theirs = stream_rates(*measured);
    ASSERT_TRUE(own && theirs);
    EXPECT_GT(theirs->read, 4.5e6) << name;
    EXPECT_LT(theirs->read, 5.4e6) << name;
    EXPECT_GE(own->read, .95 * streamed_bytes_per_second(*drive)) << name;
    EXPECT_GE(own->write, .95 * streamed_bytes_per_second(*drive)) << name;
  }
  EXPECT_EQ(seen, 6);
}

// Writes are not tested, because a longer write may be slower: a write that is larger than the
// cache waits until its sectors are under the head (VALIDATION.md).
TEST(StreamRates, DoNotFallForLargerReads) {
  for (const ProfileSummary& summary : list_profiles()) {
    if (summary.kind != "disk") continue;
    const auto stack = load_stack(summary.name);
    ASSERT_TRUE(stack);
    const auto small = stream_rates(*stack), large = stream_rates(*stack, 2048);
    ASSERT_TRUE(small && large);
    EXPECT_GE(large->read, .98 * small->read) << summary.name;
  }
}

}  // namespace
}  // namespace headcrash::profiles
