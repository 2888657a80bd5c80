// Tests a guest on an array with a battery-backed cache: mkfs, mount and writes; a member dies and
// is rebuilt under load; the power is cut; hardware and file system recover. All synced data must
// survive.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "harness/campaign/testing/served_guest.h"
#include "harness/oracle/oracle.h"
#include "harness/workload/small_files.h"

namespace headcrash::campaign {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;

constexpr const char* kArray = "hd0.below";  // the array below the cache hd0
constexpr int kMember = 3;

class ArrayGuest : public ServedGuest {
 protected:
  ArrayGuest()
      : ServedGuest({.profile = "netra-raid5-presto",
                     .size_bytes = 96ULL << 20,
                     .clock = profiles::kClockOff,
                     .seed = 11}) {}

  void must_end_well(const std::vector<std::string>& argv, int exit_most = 0) {
    const json answer = exec(argv);
    EXPECT_LE(answer.value("exit", 99), exit_most) << answer.dump(1);
  }
  json array_status() { return control({{"array", "status"}, {"device", kArray}}); }

  /// Runs the operations with the indices `from` to `to` - 1.
  void work(const std::vector<workload::Operation>& operations, std::size_t from, std::size_t to) {
    json lines = json::array();
    for (std::size_t i = from; i < to; ++i) lines.push_back(workload::format(operations[i]));
    const json answer =
        must({{"do", "run"}, {"root", kRoot}, {"operations", lines}, {"mark", "/dev/vdb"}});
    EXPECT_EQ(answer.value("done", std::size_t{0}), to - from) << answer.dump();
  }

  std::vector<oracle::ObservedObject> dump() {
    std::vector<oracle::ObservedObject> tree;
    must({{"do", "dump"}, {"root", kRoot}}, [&](const json& event) {
      if (event.value("event", "") != "entry") return;
      auto object = oracle::parse_entry(event);
      ASSERT_TRUE(object) << object.error().message();
      tree.push_back(std::move(*object));
    });
    return tree;
  }
};

TEST_F(ArrayGuest, SurvivesADeadMemberARebuildAndAPowerCut) {
  ASSERT_NO_FATAL_FAILURE(start_guest());
  must_end_well({"mkfs.ext4", "-q", "-F", "/dev/vda"});
  mount();
  control({{"clock", "real"}});
  const auto operations = workload::small_files({.seed = 5, .rounds = 90});
  const std::size_t third = operations.size() / 3;
  work(operations, 0, third);

  control({{"array", "fail"}, {"device", kArray}, {"member", kMember}});
  EXPECT_EQ(array_status().at("members").at(kMember), "failed");
  work(operations, third, 2 * third);

  control({{"array", "rebuild"}, {"device", kArray}, {"member", kMember}});
  EXPECT_EQ(array_status().at("background"), "rebuild");
  work(operations, 2 * third, operations.size());
  for (int tries = 0; tries < 600 && array_status().at("background") != ""; ++tries)
    std::this_thread::sleep_for(100ms);
  EXPECT_EQ(array_status().at("members").at(kMember), "active");

  must_end_well({"sync"});
  control({{"power", "cut"}});
  guest_->kill();
  control({{"power", "on"}});
  ASSERT_NO_FATAL_FAILURE(start_guest());
  must_end_well({"e2fsck", "-f", "-p", "/dev/vda"}, 1);
  mount();
  const auto tree = dump();
  const auto oracle = oracle::Oracle::follow(operations, {.promises = {.fsync_keeps_name = true}});
  ASSERT_TRUE(oracle) << oracle.error().message();
  for (const oracle::Finding& finding : oracle->judge(operations.size() - 1, tree)) {
    ADD_FAILURE() << finding.path << ": expected " << finding.expected << ", found "
                  << finding.found;
  }

  control({{"array", "scrub"}, {"device", kArray}});
  for (int tries = 0; tries < 600 && array_status().at("background") != ""; ++tries)
    std::this_thread::sleep_for(100ms);
  EXPECT_EQ(array_status().at("mismatches"), 0);
}

}  // namespace
}  // namespace headcrash::campaign
