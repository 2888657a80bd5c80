// Tests trace parsing, the generator, the host's queue, the statistics, and replays on a device
// that takes one millisecond per request.
#include "plugin/replay/replay.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "plugin/model/core/null_observer.h"
#include "plugin/replay/csv.h"
#include "plugin/replay/random_requests.h"
#include "plugin/replay/trace_file.h"

namespace headcrash::replay {
namespace {

namespace fs = std::filesystem;
using model::kMillisecondNs;
using model::kSecondNs;

class TextFile {
 public:
  explicit TextFile(const std::string& text, const std::string& ending = ".trace") {
    static int number = 0;
    path_ = (fs::temp_directory_path() /
             fmt::format("headcrash-replay-{}-{}{}", ::getpid(), number++, ending))
                .string();
    std::ofstream(path_) << text;
  }
  ~TextFile() { fs::remove(path_); }
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;
  const std::string& path() const { return path_; }
  std::string text() const {
    std::stringstream all;
    all << std::ifstream(path_).rdbuf();
    return all.str();
  }

 private:
  std::string path_;
};

Result<std::vector<TraceRequest>> all_of(RequestSource& source) {
  std::vector<TraceRequest> all;
  for (;;) {
    TRY(const auto chunk, source.next());
    if (chunk.empty()) return all;
    all.insert(all.end(), chunk.begin(), chunk.end());
  }
}

Result<std::vector<TraceRequest>> parse(const std::string& text,
                                        TraceFormat format = TraceFormat::trace) {
  const TextFile file(text);
  const auto source = TraceFile::open(file.path(), format);
  EXPECT_TRUE(source);
  return all_of(**source);
}

// ---- traces

TEST(TraceFile, ReadsOpenArrivalsInNanoseconds) {
  const auto all = parse(
      "62.687285 0 1777192 8 1\n# a remark\n\n  138.7325860004\t3 132344 16 2\r\n138.7325867 0 0 1 0");
  ASSERT_TRUE(all) << all.error().message();
  ASSERT_EQ(all->size(), 3U);
  EXPECT_EQ((*all)[0].wait_ns, 62'687'285);
  EXPECT_EQ((*all)[0].lbn, 1'777'192U);
  EXPECT_EQ((*all)[0].blocks, 8U);
  EXPECT_TRUE((*all)[0].read);
  EXPECT_EQ((*all)[1].wait_ns, 138'732'586);
  EXPECT_EQ((*all)[1].device, 3U);
  EXPECT_FALSE((*all)[1].read);
  EXPECT_EQ((*all)[1].line, 4U);
  EXPECT_EQ((*all)[2].wait_ns, 138'732'587) << "digits beyond the nanosecond must be rounded";
}

TEST(TraceFile, ReadsClosedLoopsWithMeasuredTimes) {
  const auto all =
      parse("R Miss  564347     2     14095.370     13876.270\nW Hit 25805 43 0.0 20296.786638\n",
            TraceFormat::closed);
  ASSERT_TRUE(all) << all.error().message();
  EXPECT_EQ((*all)[0].measured_ns, 14'095'370);
  EXPECT_EQ((*all)[0].wait_ns, 13'876'270);
  EXPECT_TRUE((*all)[0].read);
  EXPECT_EQ((*all)[1].measured_ns, 0);
  EXPECT_EQ((*all)[1].wait_ns, 20'296'787);
}

TEST(TraceFile, ReadsFilesInSeveralChunks) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += fmt::format("{} 0 {} 8 1\n", i, i * 8);
  const auto all = parse(text);
  ASSERT_TRUE(all) << all.error().message();
  ASSERT_EQ(all->size(), 20'000U);
  for (std::uint64_t i = 0; i < all->size(); ++i) {
    ASSERT_EQ((*all)[i].lbn, i * 8);
    ASSERT_EQ((*all)[i].line, i + 1);
  }
}

TEST(TraceFile, ErrorsNameTheLine) {
  const auto says = [](const std::string& line, const char* words,
                       TraceFormat format = TraceFormat::trace) {
    const std::string good = format == TraceFormat::trace ? "5 0 8 8 1\n" : "R Hit 0 8 0.0 0.0\n";
    const auto all = parse(good + line + "\n", format);
    ASSERT_FALSE(all) << line;
    EXPECT_NE(all.error().subject.find(": line 2"), std::string::npos) << all.error().message();
    EXPECT_NE(all.error().problem.find(words), std::string::npos) << all.error().message();
    EXPECT_FALSE(all.error().hint.empty());
  };
  says("x 0 8 8 1", "arrival");
  says("-6 0 8 8 1", "arrival");
  says("6e1 0 8 8 1", "arrival");
  says("nan 0 8 8 1", "arrival");
  says("99999999999999999999999 0 8 8 1", "arrival");
  says("4.9 0 8 8 1", "before");
  says("6 65536 8 8 1", "device");
  says("6 0 8.5 8 1", "block number");
  says("6 0 -8 8 1", "block number");
  says("6 0 18446744073709551616 8 1", "block number");
  says("6 0 8 0 1", "number of blocks");
  says("6 0 8 4294967296 1", "number of blocks");
  says("6 0 8 8", "flags");
  says("6 0 8 8 1 1", "too many fields");
  says("6", "device");
  says(std::string(5000, '7'), "arrival");
  says("r Hit 0 8 0.0 0.0", "neither R nor W", TraceFormat::closed);
  says("R Hit 0 8 0.0", "think", TraceFormat::closed);
  says("R Hit 0 8 zero 0.0", "measured", TraceFormat::closed);
  const auto binary = parse(std::string(200'000, 'x'));
  ASSERT_FALSE(binary);
  EXPECT_NE(binary.error().problem.find("4096"), std::string::npos) << binary.error().message();
  EXPECT_FALSE(TraceFile::open("/no/such/file", TraceFormat::trace));
  EXPECT_FALSE(trace_format_of("day.csv"));
  EXPECT_EQ(*trace_format_of("day.closed"), TraceFormat::closed);
}

// ---- generator

TEST(RandomRequests, FollowTheSeedAndTheGivenShares) {
  const auto made = [](const char* text) {
    const auto spec = parse_random(text);
    EXPECT_TRUE(spec) << spec.error().message();
    RandomRequests source(*spec, 1000);
    return *all_of(source);
  };
  const auto all = made("count=20000,size=4K,reads=0.67,seed=5");
  ASSERT_EQ(all.size(), 20'000U);
  std::size_t reads = 0;
  for (const TraceRequest& r : all) {
    reads += r.read ? 1 : 0;
    ASSERT_EQ(r.blocks, 8U);
    ASSERT_EQ(r.lbn % 8, 0U);
    ASSERT_LE(r.lbn + 8, 1000U);
  }
  EXPECT_NEAR(static_cast<double>(reads) / 20'000, 0.67, 0.02);
  EXPECT_EQ(made("count=100,seed=5")[7].lbn, made("count=200,seed=5")[7].lbn);
  EXPECT_NE(made("count=100,seed=5")[7].lbn, made("count=100,seed=6")[7].lbn);
  const auto runs = made("count=1000,sequential=1");
  EXPECT_EQ(runs[1].lbn, runs[0].lbn + 8);
  const auto open = made("count=20000,rate=1000");
  EXPECT_NEAR(static_cast<double>(open.back().wait_ns) / kSecondNs, 20, 1);
}

TEST(RandomRequests, ErrorsNameTheKey) {
  for (const char* text :
       {"", "size=4K", "count=0", "count=x", "count=1,reads=1.5", "count=1,reads=nan",
        "count=1,size=1000", "count=1,size=0", "count=1,depth=0", "count=1,rate=0",
        "count=1,rate=5,depth=2", "count=1,rates=5", "count"}) {
    const auto spec = parse_random(text);
    ASSERT_FALSE(spec) << text;
    EXPECT_TRUE(spec.error().subject.starts_with("--random")) << spec.error().message();
    EXPECT_FALSE(spec.error().hint.empty()) << spec.error().message();
  }
}

// ---- statistics

TEST(ResponseTimes, PercentilesAndDemeritAreWithinOneTwoThousandth) {
  std::mt19937_64 random(7);
  std::lognormal_distribution<double> spread(16, 0.8);
  std::vector<model::TimeNs> a, b;
  ResponseTimes ra, rb;
  for (int i = 0; i < 20'000; ++i) {
    a.push_back(std::llround(spread(random)));
    b.push_back(std::llround(spread(random) * 1.05));
    ra.add(a.back());
    rb.add(b.back());
  }
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  for (const double q : {0.01, 0.5, 0.9, 0.99, 1.0}) {
    const auto exact = static_cast<double>(a[static_cast<std::size_t>(std::ceil(q * 20'000)) - 1]);
    EXPECT_NEAR(ra.quantile_ns(q) / exact, 1, 0.0005) << q;
  }
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::pow(static_cast<double>(a[i] - b[i]), 2);
  const double exact = std::sqrt(sum / 20'000);
  EXPECT_NEAR(ResponseTimes::horizontal_distance_ns(ra, rb) / exact, 1, 0.002);
  EXPECT_EQ(ResponseTimes::horizontal_distance_ns(ra, ra), 0);
  EXPECT_EQ(ra.max_ns(), a.back());
}

TEST(ResponseTimes, AcceptTimesFromZeroToTheMaximum) {
  ResponseTimes times;
  EXPECT_EQ(times.quantile_ns(0.5), 0);
  for (const model::TimeNs ns :
       {model::TimeNs{0}, model::TimeNs{4095}, model::TimeNs{4096}, model::kNever})
    times.add(ns);
  EXPECT_EQ(times.quantile_ns(0.25), 0);
  EXPECT_EQ(times.quantile_ns(0.5), 4095);
  EXPECT_NEAR(times.quantile_ns(1), 9.22e18, 1e16);
}

// ---- replay

/// A device that serves requests one at a time, each in one millisecond. If `works` is false, the
/// device never completes a request.
class Metronome final : public model::Device, private model::EventTarget {
 public:
  Metronome(model::Simulation& simulation, bool works) : simulation_(simulation), works_(works) {
    characteristics_.sectors = 1000;
  }
  const model::Characteristics& characteristics() const override { return characteristics_; }
  model::DeviceCounters counters() const override { return {}; }
  // never called
  std::optional<model::TimeNs> quiet_since() const override { return std::nullopt; }
  void submit(const model::Request& request, model::Initiator& initiator) override {
    served.push_back(request.lba);
    if (!works_) return;
    free_at_ = std::max(free_at_, simulation_.now()) + kMillisecondNs;
    queue_.push_back({&initiator, request.id});
    simulation_.schedule(free_at_, *this, 0);
  }
  void power_cut() override {}
  void power_on() override {}
  std::vector<std::uint64_t> served;

 private:
  struct Waiting {
    model::Initiator* initiator;
    model::RequestId id;
  };
  void on_event(std::uint64_t) override {
    const Waiting first = queue_.front();
    queue_.pop_front();
    model::Completion completion;
    completion.id = first.id;
    completion.completed_at = simulation_.now();
    completion.breakdown.seek_ns = 250'000;
    first.initiator->completed(completion);
  }
  model::Simulation& simulation_;
  bool works_;
  model::Characteristics characteristics_;
  std::deque<Waiting> queue_;
  TimeNs free_at_ = 0;
};

struct Keep : ReplayObserver {
  void replayed(const ReplayedRequest& request) override { all.push_back(request); }
  std::vector<ReplayedRequest> all;
};

struct Bench {
  explicit Bench(bool works = true) : machine(nobody) {
    auto made = std::make_unique<Metronome>(machine.simulation(), works);
    device = made.get();
    machine.add_device("hd0", std::move(made));
  }
  Result<ReplayTotals> run(const std::string& text, TraceFormat format,
                           ReplayOptions options = {}) {
    const TextFile file(text);
    auto source = TraceFile::open(file.path(), format);
    options.observer = &keep;
    return replay(machine, **source, options);
  }
  model::NullObserver nobody;
  model::Machine machine;
  Metronome* device;
  Keep keep;
};

TEST(Replay, OpenArrivalsDoNotWaitForCompletions) {
  Bench bench;
  const auto totals = bench.run("1 0 0 1 1\n1.5 0 8 1 0\n9 0 16 1 1\n", TraceFormat::trace);
  ASSERT_TRUE(totals) << totals.error().message();
  EXPECT_EQ(totals->requests, 3U);
  EXPECT_EQ(totals->reads, 2U);
  EXPECT_EQ(totals->end_ns, 10 * kMillisecondNs);
  ASSERT_EQ(bench.keep.all.size(), 3U);
  EXPECT_EQ(bench.keep.all[1].arrive_ns, 1'500'000);
  EXPECT_EQ(bench.keep.all[1].response_ns(), 1'500'000);
  EXPECT_EQ(bench.keep.all[2].response_ns(), kMillisecondNs);
}

TEST(Replay, AClosedLoopWaitsForItsThinkTimeAfterEachCompletion) {
  Bench bench;
  const auto totals =
      bench.run("R Hit 0 1 3000.0 500\nW Hit 8 1 900.0 0\nR Hit 16 1 0.0 7\n", TraceFormat::closed);
  ASSERT_TRUE(totals) << totals.error().message();
  ASSERT_EQ(bench.keep.all.size(), 3U);
  EXPECT_EQ(bench.keep.all[1].arrive_ns, 1'500'000);
  EXPECT_EQ(bench.keep.all[2].arrive_ns, 2'500'000);
  EXPECT_EQ(totals->end_ns, 3'500'000);
  const Comparison& c = totals->comparison;
  EXPECT_EQ(c.measured.count(), 2U);
  EXPECT_EQ(c.within_1ms, 1U);
  EXPECT_DOUBLE_EQ(c.error_sum_ns, -2e6 + 1e5);
  // In sorted order, the measured times are 0.9 and 3. Both modelled times are 1. The demerit is
  // sqrt((0.1^2 + 2^2) / 2) / 1.95.
  EXPECT_NEAR(c.demerit(), std::sqrt((0.01 + 4) / 2) / 1.95, 0.001);
}

TEST(Replay, SeveralLoopsKeepSeveralRequestsInFlight) {
  Bench bench;
  const auto spec = parse_random("count=10,size=512,depth=4");
  RandomRequests source(*spec, 1000);
  ReplayOptions options;
  options.observer = &bench.keep;
  const auto totals = replay(bench.machine, source, options);
  ASSERT_TRUE(totals);
  EXPECT_EQ(totals->end_ns, 10 * kMillisecondNs);
  EXPECT_EQ(bench.keep.all[9].response_ns(), 4 * kMillisecondNs);
}

TEST(Replay, TheHostQueueIsServedInArrivalOrder) {
  Bench bench;
  ReplayOptions options;
  options.device_depth = 1;
  const auto totals = bench.run("0 0 500 1 1\n0.1 0 900 1 1\n0.2 0 100 1 1\n0.3 0 600 1 1\n",
                                TraceFormat::trace, options);
  ASSERT_TRUE(totals);
  EXPECT_EQ(bench.device->served, (std::vector<std::uint64_t>{500, 900, 100, 600}));
  for (std::uint64_t i = 0; i < 4; ++i) EXPECT_EQ(bench.keep.all[i].index, i);
  EXPECT_EQ(bench.keep.all[2].complete_ns, 3 * kMillisecondNs);
}

TEST(Replay, RejectsRequestsOutsideTheMachine) {
  const auto message = [](const char* text) {
    Bench bench;
    const auto totals = bench.run(text, TraceFormat::trace);
    EXPECT_FALSE(totals) << text;
    return totals ? std::string() : totals.error().message();
  };
  EXPECT_NE(message("0 0 0 1 1\n0 1 0 1 1\n").find(": line 2: no device 1"), std::string::npos);
  EXPECT_NE(message("0 0 999 2 1\n").find(": line 1: blocks 999+2 exceed the device's 1000 blocks"),
            std::string::npos);
  EXPECT_NE(message("0 0 4611686018427387904 2 1\n").find("exceed"), std::string::npos);
}

TEST(Replay, ADeviceThatCannotKeepUpGivesAnError) {
  Bench bench(false);
  const auto spec = parse_random("count=3000000,rate=1e9,size=512");
  RandomRequests source(*spec, 1000);
  const auto totals = replay(bench.machine, source);
  ASSERT_FALSE(totals);
  EXPECT_NE(totals.error().problem.find("waiting"), std::string::npos) << totals.error().message();
}

TEST(Replay, StopsOnRequest) {
  Bench bench;
  const auto spec = parse_random("count=1000000,size=512");
  RandomRequests source(*spec, 1000);
  ReplayOptions options;
  options.go_on = [](std::uint64_t done) { return done < 10'000; };
  const auto totals = replay(bench.machine, source, options);
  ASSERT_TRUE(totals);
  EXPECT_LT(totals->requests, 20'000U);
}

TEST(Csv, HasOneLinePerRequest) {
  const TextFile out("", ".csv");
  Bench bench;
  {
    auto csv = CsvWriter::create(out.path());
    ASSERT_TRUE(csv);
    const TextFile trace("0.000001 0 8 2 1\n5 0 16 4 0\n");
    auto source = TraceFile::open(trace.path(), TraceFormat::trace);
    ReplayOptions options;
    options.observer = csv->get();
    ASSERT_TRUE(replay(bench.machine, **source, options));
    ASSERT_TRUE((*csv)->close());
  }
  EXPECT_EQ(
      out.text(),
      "i,arrive_ms,complete_ms,op,lbn,blocks,response_ms,hit,seek_ms,rotlat_ms,media_xfer_ms\n"
      "0,0.000001,1.000001,R,8,2,1.000000,NOMATCH,0.250000,0.000000,0.000000\n"
      "1,5.000000,6.000000,W,16,4,1.000000,NOMATCH,0.250000,0.000000,0.000000\n");
  EXPECT_FALSE(CsvWriter::create("/no/such/folder/out.csv"));
  if (fs::exists("/dev/full")) {
    auto full = CsvWriter::create("/dev/full");
    ASSERT_TRUE(full);
    EXPECT_FALSE((*full)->close());
  }
}

}  // namespace
}  // namespace headcrash::replay
