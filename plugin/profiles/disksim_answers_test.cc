// Compares the disk model with DiskSim's per-request results for the HP C2247A. The traces are
// synthetic; each exercises one mechanism.
//
// Each request is submitted at its recorded arrival time, so an error in one response does not
// shift the next request. `queued` uses a host C-LOOK queue with one request at the disk. The
// response time of every request is compared.
//
// All traces use the profile hp-c2247a-disksim, which has the nominal rotation period and models
// DiskSim's lag by a constant. Limits: 99 % of the random reads and writes are within 0.01 ms, and
// 95 % of all other requests are within 0.1 ms.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "plugin/model/core/null_observer.h"
#include "plugin/model/disk/disk.h"
#include "plugin/profiles/profile.h"

namespace headcrash::profiles {
namespace {

using model::TimeNs;

struct Answer {
  TimeNs arrive_ns = 0;
  TimeNs response_ns = 0;
  bool read = false;
  std::uint64_t lbn = 0;
  std::uint32_t blocks = 0;
};

TimeNs to_ns(const std::string& ms) {
  return std::llround(std::stod(ms) * 1e6);
}

std::vector<Answer> read_answers(const std::filesystem::path& file) {
  std::vector<Answer> answers;
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);  // i,arrive_ms,complete_ms,op,lbn,blocks,response_ms,...
  while (std::getline(stream, line)) {
    std::istringstream fields(line);
    std::array<std::string, 7> field;
    for (std::string& f : field) std::getline(fields, f, ',');
    answers.push_back({to_ns(field[1]), to_ns(field[6]), field[3] == "R", std::stoull(field[4]),
                       static_cast<std::uint32_t>(std::stoul(field[5]))});
  }
  return answers;
}

/// Submits requests at their recorded arrival times. With `clook`, the disk gets one request at a
/// time. The next request is the waiting one with the lowest sector at or after the previous
/// request. If all are before it, the one with the lowest sector is next.
class Replay final : public model::Initiator, public model::EventTarget {
 public:
  Replay(const model::DiskProfile& profile, const std::vector<Answer>& answers, bool clook)
      : answers_(answers),
        clook_(clook),
        disk_({profile, simulation_, ignore_}),
        responses_(answers.size()),
        breakdowns_(answers.size()) {}

  const std::vector<TimeNs>& run() {
    for (std::size_t i = 0; i < answers_.size(); ++i)
      simulation_.schedule(answers_[i].arrive_ns, *this, i);
    while (simulation_.run_next()) {
    }
    return responses_;
  }
  const std::vector<model::Breakdown>& breakdowns() const { return breakdowns_; }

 private:
  void on_event(std::uint64_t i) override {
    waiting_.emplace(answers_[i].lbn, i);
    if (!clook_ || !busy_) dispatch();
  }
  void completed(const model::Completion& completion) override {
    const std::size_t i = completion.id - 1;
    responses_[i] = completion.completed_at - answers_[i].arrive_ns;
    breakdowns_[i] = completion.breakdown;
    busy_ = false;
    if (!waiting_.empty()) dispatch();
  }
  void dispatch() {
    auto next = waiting_.lower_bound(head_lbn_);
    if (next == waiting_.end()) next = waiting_.begin();
    const std::size_t i = next->second;
    waiting_.erase(next);
    busy_ = true;
    head_lbn_ = answers_[i].lbn;
    model::Request request;
    request.id = i + 1;
    request.op = answers_[i].read ? model::Op::read : model::Op::write;
    request.lba = answers_[i].lbn;
    request.sectors = answers_[i].blocks;
    disk_.submit(request, *this);
  }

  const std::vector<Answer>& answers_;
  const bool clook_;
  model::Simulation simulation_;
  model::NullObserver ignore_;
  model::Disk disk_;
  std::vector<TimeNs> responses_;
  std::vector<model::Breakdown> breakdowns_;
  std::multimap<std::uint64_t, std::size_t> waiting_;
  std::uint64_t head_lbn_ = 0;
  bool busy_ = false;
};

struct Trace {
  const char* name;
  double tolerance_ms;
  double share_min;  ///< minimum fraction of requests within the tolerance
  bool clook;
};

class DisksimAnswers : public testing::TestWithParam<Trace> {};

TEST_P(DisksimAnswers, MatchRequestByRequest) {
  const Trace& trace = GetParam();
  const auto file = std::filesystem::path(HEADCRASH_DISKSIM_ANSWERS) /
                    fmt::format("hp_c2247a.{}.csv", trace.name);
  if (!std::filesystem::exists(file)) GTEST_SKIP() << "no answers at " << file;
  auto profile = load_profile("hp-c2247a-disksim");
  ASSERT_TRUE(profile) << profile.error().message();

  const auto answers = read_answers(file);
  ASSERT_GT(answers.size(), 1000U);
  Replay replay(*profile, answers, trace.clook);
  const auto& responses = replay.run();
  std::size_t within = 0;
  std::array<std::size_t, 4> finer{};
  constexpr std::array<TimeNs, 4> kSteps = {1'000, 10'000, 100'000, 1'000'000};
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const TimeNs off = std::abs(responses[i] - answers[i].response_ns);
    if (static_cast<double>(off) <= trace.tolerance_ms * 1e6) ++within;
    for (std::size_t k = 0; k < kSteps.size(); ++k) finer[k] += off <= kSteps[k] ? 1 : 0;
  }
  const auto all = static_cast<double>(answers.size());
  fmt::print("{:16} within 1 us {:6.2f} %  10 us {:6.2f} %  0.1 ms {:6.2f} %  1 ms {:6.2f} %\n",
             trace.name, 100.0 * finer[0] / all, 100.0 * finer[1] / all, 100.0 * finer[2] / all,
             100.0 * finer[3] / all);
  EXPECT_GE(static_cast<double>(within) / all, trace.share_min);
}

// In `mixed_closed`, 1.1 % of the requests differ, for two reasons. First, DiskSim delays some
// short writes on the same track by another revolution. Second, at a read directly after a write to
// neighbouring sectors, DiskSim sometimes keeps its read segment and sometimes drops it. DiskSim's
// results do not reveal the rules for these cases.
INSTANTIATE_TEST_SUITE_P(HpC2247a, DisksimAnswers,
                         testing::Values(Trace{"randread4k", 0.01, 0.99, false},
                                         Trace{"randwrite4k", 0.01, 0.99, false},
                                         Trace{"seqread4k", 0.01, 0.99, false},
                                         Trace{"seqwrite64k", 0.01, 0.99, false},
                                         Trace{"mixed_closed", 0.1, 0.985, false},
                                         Trace{"queued45.clook", 0.01, 0.99, true}),
                         [](const auto& param) {
                           std::string name = param.param.name;
                           for (char& c : name) c = c == '.' ? '_' : c;
                           return name;
                         });

}  // namespace
}  // namespace headcrash::profiles
