#include "harness/explorer/explain/crash_timeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "harness/explorer/explain/issuers.h"
#include "harness/explorer/testing/recorded_disk.h"
#include "plugin/states/testing/random_run.h"

namespace headcrash::explorer {
namespace {

using report::TimelineRequest;
using report::TimelineState;

/// Recorded events, with their numbers: 0 mark  1 W1  2 ack  3 F2  4 ack  5 mark  6 W3  7 ack  8 W4
/// (FUA)  9 ack  10 W5  11 mark. W is a write, F a flush.
std::shared_ptr<const states::RunHistory> a_short_run(const TemporaryFolder& folder) {
  RecordedDisk disk(folder / "workload.hcrec", 4096, false);
  disk.mark("phase workload")
      .write(1, 800, RecordedDisk::stamps(1, 1, 0, 4096))
      .ack(1)
      .flush(2)
      .mark("persisted 2");
  disk.write(3, 1600, RecordedDisk::stamps(2, 7, 0, 4096)).ack(3);
  disk.write(4, 2048, RecordedDisk::block({0xc0, 0x3b, 0x39, 0x98, 0, 0, 0, 2, 0, 0, 0, 9}), true)
      .ack(4);
  disk.write(5, 900, std::vector<std::byte>(1024)).mark("</script>");
  return disk.load();
}

TimelineOptions options_of(const std::string& state) {
  return {
      .type = "ext4",
      .state = states::parse_crash_state(state).value(),
      .states = {{"w6", "prefix", "clean", ""}, {state, "reorder", "lost-synced-data", "1 object"}},
      .findings = {{oracle::Verdict::lost_synced_data, oracle::Tier::posix, "h", "there",
                    "nothing"}},
      .operations =
          workload::parse_operations(
              "create f\nwrite f 0 4096 1 1\nfsync f\ncreate g\nwrite g 0 4096 2 7\nrename g h\nfsync h\n",
              "ops")
              .value()};
}

TEST(CrashTimeline, NamesTheIssuersOfRequests) {
  const TemporaryFolder folder;
  const auto run = a_short_run(folder);
  Issuers issuers;
  issuers.add_issued(0, 3, {"sh", {"submit_bio+0x1/0x2", "ext4_writepages+0x3/0x4", "f+0x1/0x2"}});
  std::ofstream(issuers_file(run->path())) << issuers.text();
  const auto page = crash_timeline(*run, options_of("w12-3~5:0x1"));
  ASSERT_TRUE(page) << page.error().message();
  EXPECT_EQ(page->requests[0].issuer, "");
  EXPECT_EQ(page->requests[1].issuer, "ext4_writepages from sh");
  EXPECT_EQ(page->requests[1].stack, "ext4_writepages < f");
  const std::string html = report::crash_page(*page);
  EXPECT_NE(html.find("issued by ext4_writepages from sh"), std::string::npos);
}

TEST(CrashTimeline, DescribesEachWrite) {
  const TemporaryFolder folder;
  const auto run = a_short_run(folder);
  const auto page = crash_timeline(*run, options_of("w12-3~5:0x1"));
  ASSERT_TRUE(page) << page.error().message();
  ASSERT_EQ(page->requests.size(), 4U);
  EXPECT_EQ(page->requests[0].file, "f");
  EXPECT_EQ(page->requests[0].block, report::BlockClass::data);
  EXPECT_EQ(page->requests[0].durable->event, 4U);
  EXPECT_FALSE(page->requests[0].finding);
  EXPECT_EQ(page->requests[1].file, "g, h");
  EXPECT_EQ(page->requests[1].finding, 0U) << "the finding concerns a later name of the file";
  EXPECT_FALSE(page->requests[1].durable);
  EXPECT_EQ(page->requests[2].what, "journal commit block of transaction 9");
  EXPECT_EQ(page->requests[2].block, report::BlockClass::journal);
  EXPECT_EQ(page->requests[2].durable->event, 9U) << "FUA";
  EXPECT_EQ(page->requests[3].acked, std::nullopt);
  EXPECT_EQ(page->requests[2].bytes.substr(0, 4), "\xc0\x3b\x39\x98");
  ASSERT_EQ(page->marks.size(), 3U);
  EXPECT_EQ(page->marks[1].operation, 2U);
  EXPECT_FALSE(page->marks[2].promise);
}

/// Two disks. The first promise waits for both of them, and the second one only for hd0.
TEST(CrashTimeline, FindsTheFlushesThatFulfilEachPromise) {
  const TemporaryFolder folder;
  RecordedDisk disks(folder / "workload.hcrec", false, {{"hd0", 4096}, {"hd1", 4096}});
  const RecordedDisk::Data data(512);
  disks.mark("phase workload").on(0).write(1, 0, data).ack(1).on(1).write(2, 0, data).ack(2);
  disks.on(0).flush(3).on(1).flush(4).on(1).flush(5).mark("persisted 2");
  disks.on(0).write(6, 8, data).ack(6).flush(7).mark("persisted 6");
  disks.on(1).flush(8);
  const auto page = crash_timeline(*disks.load(), options_of("a19"));
  ASSERT_TRUE(page) << page.error().message();
  std::vector<std::pair<std::uint64_t, std::optional<std::size_t>>> found;
  for (const auto& flush : page->flushes) found.emplace_back(flush.request, flush.promise);
  EXPECT_EQ(found, (std::vector<std::pair<std::uint64_t, std::optional<std::size_t>>>{
                       {3, 1}, {4, std::nullopt}, {5, 1}, {7, 2}, {8, std::nullopt}}));
  EXPECT_EQ(report::flushed_for(*page, 1),
            " Disks flushed for this promise: hd0 (request 3), hd1 (request 5).");
  EXPECT_EQ(report::flushed_for(*page, 2),
            " Disks flushed for this promise: hd0 (request 7); not flushed: hd1.");
}

TEST(CrashTimeline, ListsTheLossesOfAState) {
  const TemporaryFolder folder;
  const auto run = a_short_run(folder);
  const auto page = crash_timeline(*run, options_of("w12-3~5:0x1"));
  ASSERT_TRUE(page) << page.error().message();
  ASSERT_TRUE(page->shown);
  const TimelineState& state = page->states[*page->shown];
  EXPECT_EQ(state.lost, std::vector<std::size_t>{1})
      << "the second request on the page has number 3";
  ASSERT_EQ(state.torn.size(), 1U);
  EXPECT_EQ(state.torn[0].request, 3U);
  EXPECT_EQ(state.outcome, TimelineState::Outcome::failed);
  EXPECT_EQ(page->states.size(), 2U);
  EXPECT_EQ(page->cut, 12U);
}

/// Two members of an array. One of them stopped before the other.
TEST(CrashTimeline, ListsLostWritesOfMembers) {
  const TemporaryFolder folder;
  record::RecordingHeader header{
      .seed = 1,
      .devices = {
          {"hd0", "raid", 4096, 1, false}, {"hd0.0", "disk", 4096, 1}, {"hd0.1", "disk", 4096, 1}}};
  auto writer = record::RecordingWriter::create(folder / "array.hcrec", header);
  ASSERT_TRUE(writer) << writer.error().message();
  const auto data = RecordedDisk::stamps(1, 1, 0, 4096);
  (*writer)->submitted(0, 10,
                       {.id = 1, .op = model::Op::write, .lba = 0, .sectors = 8, .data = data});
  for (const model::DeviceId member : {1, 2})
    (*writer)->media_written(member, 20 + member,
                             {.source = 1, .lba = 8, .sectors = 8, .bytes = data});
  (*writer)->media_written(2, 30, {.source = 1, .lba = 16, .sectors = 8, .bytes = data});
  writer->reset();
  const auto run = states::RunHistory::load(folder / "array.hcrec");
  ASSERT_TRUE(run) << run.error().message();
  const auto page = crash_timeline(**run, {.state = states::parse_crash_state("m4:2@2").value()});
  ASSERT_TRUE(page) << page.error().message();
  const TimelineState& state = page->states.at(page->shown.value());
  EXPECT_TRUE(state.by_members);
  ASSERT_EQ(page->requests.size(), 1U) << "only the host's write, without the members' writes";
  EXPECT_EQ(state.undone, (std::vector<std::size_t>{1, 2}))
      << "writes of the second member after its last event";
  ASSERT_EQ(state.stopped.size(), 1U);
  EXPECT_EQ(state.stopped[0].first, 2U);
}

TEST(CrashTimeline, ReportsOmittedRequestsAndStates) {
  const TemporaryFolder folder;
  const auto run = a_short_run(folder);
  TimelineOptions options = options_of("w12-3");
  options.requests_most = 2;
  options.states_most = 1;
  const auto page = crash_timeline(*run, options);
  ASSERT_TRUE(page) << page.error().message();
  EXPECT_EQ(page->requests.size(), 2U);
  EXPECT_EQ(page->left_out.size(), 2U);
  ASSERT_EQ(page->states.size(), 1U);
  EXPECT_EQ(page->states[0].name, "w12-3") << "the requested state is kept";
}

TEST(CrashTimeline, RejectsAStateOfAnotherRecording) {
  const TemporaryFolder folder;
  const auto run = a_short_run(folder);
  EXPECT_FALSE(crash_timeline(*run, options_of("w99-")));
}

TEST(CrashTimeline, AgreesWithTheEnumeratorOnWritesAtRisk) {
  const TemporaryFolder folder;
  std::size_t seen = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const auto path = folder / ("run" + std::to_string(seed) + ".hcrec");
    const states::RandomRun random(path, seed, {.steps = 80, .media = seed % 2 == 0});
    const auto run = states::RunHistory::load(path);
    ASSERT_TRUE(run) << run.error().message();
    const auto page = crash_timeline(**run, {});
    ASSERT_TRUE(page) << page.error().message();
    for (std::uint64_t event = 0; event <= (*run)->events(); ++event) {
      std::vector<model::RequestId> lab, shown;
      for (const std::size_t i : (*run)->unflushed_at(0, event))
        lab.push_back((*run)->writes(0)[i].request);
      for (const TimelineRequest& request : page->requests)
        if (report::at_risk(request, event)) shown.push_back(request.request);
      ASSERT_EQ(shown, lab) << "seed " << seed << ", event " << event;
      seen += shown.size();
    }
  }
  EXPECT_GT(seen, 1000U);
}

}  // namespace
}  // namespace headcrash::explorer
