// Tests queueing and write gathering, and that the promises made by replies hold after a power cut.
#include "harness/papers/peacock98/nfs_front.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "harness/papers/modelled_machine.h"
#include "harness/papers/peacock98/laddis_load.h"

namespace headcrash::experiment::peacock98 {
namespace {

std::unique_ptr<ModelledMachine> small_server(const char* system, double operations_per_s,
                                              adapters::Settings mkfs = {}) {
  auto options = machine_with("ufs", system);
  EXPECT_TRUE(options) << system;
  options->mkfs = std::move(mkfs);
  options->size_bytes = 256 << 20;
  options->populate = [set = FileSet::of(operations_per_s)](Vfs& vfs) { return set.make(vfs); };
  auto machine = ModelledMachine::start(*options);
  EXPECT_TRUE(machine) << (machine ? "" : machine.error().message());
  return *std::move(machine);
}

LaddisOptions load_of(double operations_per_s, os::TimeNs seconds) {
  LaddisOptions options{.operations_per_s = operations_per_s};
  options.warm_ns = model::kSecondNs;
  options.measured_ns = seconds * model::kSecondNs;
  return options;
}

struct Answered {
  std::uint64_t tag;
  int error;
  os::TimeNs after_ns;
};

/// Issues several writes to one file. All of them arrive at the same time.
struct Burst {
  std::vector<Answered> answers;
  NfsCounters counters;
  std::uint64_t writes = 0;
};
Burst burst(bool gathers, std::size_t writes, std::size_t nfsds) {
  const auto machine = small_server("conventional-bsd", 10);
  Burst burst;
  os::Account account{.name = "test"};
  os::System& system = machine->system();
  NfsFront front(
      system.executor, machine->vfs(), {.nfsds = nfsds, .gathers = gathers},
      [&](const NfsRequest& request, const NfsReply& reply) {
        burst.answers.push_back({request.tag, reply.error, machine->now() - request.arrived_at});
      });
  front.start();
  const std::uint64_t before = machine->device_counters().writes;
  system.executor.spawn(os::Executor::Kind::user, account, [&] {
    const auto status = machine->vfs().stat("p0/d0/f0");
    ASSERT_TRUE(status);
    const std::string handle =
        InodeName{.inode = status->inode, .generation = status->generation}.path();
    for (std::size_t i = 0; i < writes; ++i) {
      NfsRequest request{.kind = NfsKind::write, .object = handle, .offset = i * 8192, .tag = i};
      request.data.assign(8192, std::byte{1});
      EXPECT_TRUE(front.submit(std::move(request)));
    }
    front.close();
    EXPECT_FALSE(front.submit({}));
  });
  system.executor.run();
  burst.counters = front.counters();
  burst.writes = machine->device_counters().writes - before;
  return burst;
}

TEST(NfsFront, GathersWritesOfOneFile) {
  const Burst each = burst(false, 8, 8), together = burst(true, 8, 8);
  for (const Burst* one : {&each, &together}) {
    ASSERT_EQ(one->answers.size(), 8U);
    for (const Answered& answer : one->answers) EXPECT_EQ(answer.error, 0);
  }
  EXPECT_EQ(each.counters.commits, 8U);
  EXPECT_EQ(each.counters.gathered, 0U);
  // Usually one commit covers all eight writes. A write that must first read its block may miss the
  // first commit and need a second one.
  EXPECT_LE(together.counters.commits, 2U);
  EXPECT_EQ(together.counters.gathered, 8 - together.counters.commits);
  EXPECT_LT(together.writes, each.writes);
  for (const Answered& answer : together.answers)
    EXPECT_GE(answer.after_ns, NfsFrontOptions{}.gather_ns);
}

TEST(NfsFront, RepliesWithAnErrorIfACallFails) {
  const auto machine = small_server("conventional-bsd", 10);
  std::vector<int> errors;
  os::System& system = machine->system();
  NfsFront front(system.executor, machine->vfs(), {.nfsds = 2},
                 [&](const NfsRequest&, const NfsReply& reply) { errors.push_back(reply.error); });
  front.start();
  os::Account account{.name = "test"};
  system.executor.spawn(os::Executor::Kind::user, account, [&] {
    EXPECT_TRUE(front.submit({.kind = NfsKind::remove, .directory = "p0", .name = "missing"}));
    EXPECT_TRUE(front.submit({.kind = NfsKind::read, .object = "//999999.1", .bytes = 8192}));
    front.close();
  });
  system.executor.run();
  std::ranges::sort(errors);
  EXPECT_EQ(errors, (std::vector<int>{ENOENT, ESTALE}));
  EXPECT_EQ(front.counters().errors, 2U);
}

/// Clients do not wait for a slow server. Requests arrive at the same rate and queue up.
TEST(LaddisLoad, IsAnOpenLoop) {
  LaddisOptions quick = load_of(15, 10), slow = quick;
  slow.front.request_cpu_ns = 50 * model::kMillisecondNs;
  const auto run = [](const LaddisOptions& options) {
    const auto machine = small_server("conventional-bsd", options.operations_per_s);
    LaddisLoad load(*machine, options, 1);
    EXPECT_TRUE(load.begin());
    return load.run_out();
  };
  const LaddisOutcome good = run(quick), bad = run(slow);
  ASSERT_TRUE(good.error.empty()) << good.error;
  ASSERT_TRUE(bad.error.empty()) << bad.error;
  EXPECT_NEAR(static_cast<double>(good.requests), 150, 40);
  EXPECT_EQ(good.requests, bad.requests);
  EXPECT_GT(bad.mean_ms, 2 * good.mean_ms);
  EXPECT_GT(bad.front.busy_most, good.front.busy_most);
  EXPECT_GE(good.p99_ms, good.p50_ms);
  EXPECT_NEAR(static_cast<double>(good.writes) / static_cast<double>(good.requests), .15, .1);
  // Twice the server's capacity.
  slow.operations_per_s = 40;
  EXPECT_TRUE(run(slow).saturated);
}

/// At 50 ms for each request, the server can execute 20 requests per second.
TEST(LaddisLoad, ContinuesWhenTheServerIsSaturated) {
  LaddisOptions options = load_of(40, 60);
  // Limits the server to 20 requests per second.
  options.front.request_cpu_ns = 50 * model::kMillisecondNs;
  const auto replies = [&](bool goes_on) {
    options.goes_on = goes_on;
    const auto machine = small_server("conventional-bsd", options.operations_per_s);
    LaddisLoad load(*machine, options, 1);
    EXPECT_TRUE(load.begin());
    const LaddisOutcome outcome = load.run_and_cut(40 * model::kSecondNs);
    EXPECT_TRUE(outcome.saturated);
    EXPECT_TRUE(outcome.error.empty()) << outcome.error;
    return outcome.front.replies;
  };
  const std::uint64_t all = replies(true), until_saturated = replies(false);
  EXPECT_GT(all, 20U * 40 / 2);
  EXPECT_LT(until_saturated, all * 2 / 3);
}

struct Served {
  const char* system;
  adapters::Settings mkfs;
  Repair repair;
};

enum class Mix : std::uint8_t { of_changes, creates };

std::vector<std::string> broken_after_cuts(const Served& served, bool gathers,
                                           Mix mix = Mix::of_changes) {
  std::vector<std::string> all;
  std::uint64_t answered = 0;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    constexpr double kLoad = 20;
    const auto machine = small_server(served.system, kLoad, served.mkfs);
    LaddisOptions options = load_of(kLoad, 60);
    options.keeps_history = true;
    options.front.gathers = gathers;
    const auto set = [&](NfsKind kind, std::uint64_t percent) {
      options.percent_of_kind[static_cast<std::size_t>(kind)] = percent;
    };
    if (mix == Mix::creates) {
      set(NfsKind::create, 100);
    } else {  // Mix::of_changes
      set(NfsKind::write, 40);
      set(NfsKind::create, 25);
      set(NfsKind::remove, 15);
      set(NfsKind::set_attributes, 20);
    }
    LaddisLoad load(*machine, options, seed);
    EXPECT_TRUE(load.begin());
    const auto for_ns = static_cast<os::TimeNs>(4 * model::kSecondNs + seed * 377'123'457);
    const LaddisOutcome outcome = load.run_and_cut(for_ns);
    EXPECT_TRUE(outcome.error.empty()) << outcome.error;
    answered += outcome.front.replies - outcome.front.errors;
    const auto recovery = machine->recover(served.repair);
    EXPECT_TRUE(recovery) << (recovery ? "" : recovery.error().message());
    for (std::string& each : load.broken_promises()) all.push_back(std::move(each));
  }
  EXPECT_GT(answered, 150U);
  return all;
}

TEST(LaddisLoad, EveryAcknowledgedChangeSurvivesACut) {
  const Served kServed[] = {
      {"conventional-bsd", {}, Repair::always},
      {"netra", {{"fast-check", "1"}, {"bmap-cache", "1"}, {"lazy-inodes", "1"}}, Repair::fast},
      {"journal-data", {}, Repair::as_needed}};
  for (const Served& served : kServed)
    for (const bool gathers : {false, true}) {
      const auto broken = broken_after_cuts(served, gathers);
      EXPECT_TRUE(broken.empty()) << served.system << (gathers ? ", gathering: " : ": ")
                                  << broken.front();
    }
  // Tests a load that consists only of creations. In a mixed load, the fsyncs of other requests
  // commit the journal, and would conceal that a creation is not synced.
  const auto broken = broken_after_cuts(kServed[2], false, Mix::creates);
  EXPECT_TRUE(broken.empty()) << "creates alone: " << broken.front();
}

}  // namespace
}  // namespace headcrash::experiment::peacock98
