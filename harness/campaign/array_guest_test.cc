// A guest on an array with a battery-backed cache, through all that happens to one: mkfs, mount, writes, a
// member dies, it is rebuilt under load, the power goes, the hardware and the file system recover, and
// everything that was synced is there.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "harness/campaign/campaign.h"
#include "harness/crash/oracle.h"
#include "harness/device/served_device.h"
#include "harness/process/scratch_folder.h"
#include "harness/workload/small_files.h"

namespace headcrash::campaign {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;

constexpr std::uint64_t kBytes = 96ULL << 20;
constexpr std::uint64_t kMarkExportBytes = 4096;
constexpr const char* kArray = "hd0.below";  // the cache is hd0
constexpr int kMember = 3;

class ArrayGuest : public testing::Test {
 protected:
  void SetUp() override {
    auto scratch = process::ScratchFolder::make();
    ASSERT_TRUE(scratch) << scratch.error().message();
    scratch_.emplace(std::move(*scratch));
    auto served = device::ServedDevice::start(
        {.profile = "netra-raid5-presto", .size_bytes = kBytes, .clock = "off", .seed = 11},
        scratch_->path());
    ASSERT_TRUE(served) << served.error().message();
    device_ = std::move(*served);
    auto image = vm::guest_image(default_cache());
    ASSERT_TRUE(image) << image.error().message();
    image_ = *image;
    accelerator_ = vm::probe_accelerator(default_cache()).accelerator;
  }

  void start_guest() {
    guest_.reset();
    auto guest = vm::Guest::start(
        {.image = image_,
         .accelerator = accelerator_,
         .disks = {{.socket = device_->socket(), .export_name = "", .size_bytes = kBytes},
                   {.socket = device_->socket(), .export_name = "mark", .size_bytes = kMarkExportBytes}}},
        default_cache(), scratch_->path());
    ASSERT_TRUE(guest) << guest.error().message();
    guest_ = std::move(*guest);
    must({{"do", "disk"}, {"path", "/dev/vda"}});
    must({{"do", "disk"}, {"path", "/dev/vdb"}});
  }

  json must(const json& request, const vm::EventHandler& on_event = {}) {
    const auto answer = guest_->call(request, 60s, on_event);
    EXPECT_TRUE(answer) << request.dump().substr(0, 200) << ": " << answer.error().text << "\n"
                        << guest_->console_tail(20);
    return answer ? *answer : json::object();
  }
  void exec(const std::vector<std::string>& argv, int exit_most = 0) {
    const json answer = must({{"do", "exec"}, {"argv", argv}, {"timeout_ms", 60000}});
    EXPECT_LE(answer.value("exit", 99), exit_most) << answer.dump(1);
  }
  void mount() {
    must({{"do", "mount"}, {"source", "/dev/vda"}, {"target", "/mnt"}, {"type", "ext4"}, {"options", ""}});
  }
  json control(const json& request) {
    const auto answer = device_->control().request(request);
    EXPECT_TRUE(answer) << request.dump() << ": " << answer.error().message();
    return answer ? *answer : json::object();
  }
  json array_status() { return control({{"array", "status"}, {"device", kArray}}); }

  /// Runs a list to its end.
  void work(const std::vector<workload::Operation>& operations, std::size_t from, std::size_t to) {
    json lines = json::array();
    for (std::size_t i = from; i < to; ++i) lines.push_back(workload::format(operations[i]));
    const json answer = must({{"do", "run"}, {"root", "/mnt"}, {"operations", lines}, {"mark", "/dev/vdb"}});
    EXPECT_EQ(answer.value("done", std::size_t{0}), to - from) << answer.dump();
  }

  std::vector<crash::ObservedObject> dump() {
    std::vector<crash::ObservedObject> tree;
    must({{"do", "dump"}, {"root", "/mnt"}}, [&](const json& event) {
      if (event.value("event", "") != "entry") return;
      auto object = crash::parse_entry(event);
      ASSERT_TRUE(object) << object.error().message();
      tree.push_back(std::move(*object));
    });
    return tree;
  }

  std::optional<process::ScratchFolder> scratch_;
  std::unique_ptr<device::ServedDevice> device_;
  vm::GuestImage image_;
  vm::Accelerator accelerator_ = vm::Accelerator::tcg;
  std::unique_ptr<vm::Guest> guest_;
};

TEST_F(ArrayGuest, SurvivesADeadMemberARebuildAndAPowerCut) {
  ASSERT_NO_FATAL_FAILURE(start_guest());
  exec({"mkfs.ext4", "-q", "-F", "/dev/vda"});
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

  exec({"sync"});
  control({{"power", "cut"}});
  guest_->kill();
  control({{"power", "on"}});
  ASSERT_NO_FATAL_FAILURE(start_guest());
  exec({"e2fsck", "-f", "-p", "/dev/vda"}, 1);
  mount();
  const auto tree = dump();
  const auto oracle = crash::Oracle::follow(operations, {.promises = {.fsync_keeps_name = true}});
  ASSERT_TRUE(oracle) << oracle.error().message();
  for (const crash::Finding& finding : oracle->judge(operations.size() - 1, tree)) {
    ADD_FAILURE() << finding.path << ": expected " << finding.expected << ", found " << finding.found;
  }

  control({{"array", "scrub"}, {"device", kArray}});
  for (int tries = 0; tries < 600 && array_status().at("background") != ""; ++tries)
    std::this_thread::sleep_for(100ms);
  EXPECT_EQ(array_status().at("mismatches"), 0);
}

}  // namespace
}  // namespace headcrash::campaign
