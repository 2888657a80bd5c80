// Tests when clients may connect to a stage's sockets. Also tests the cleanup after a client.
#include "plugin/servers/timetravel/served_stages.h"

#include <gtest/gtest.h>

#include <chrono>
#include <mutex>
#include <string>
#include <thread>

#include "plugin/servers/timetravel/testing/served_machine.h"
#include "plugin/servers/vhost/testing/client.h"
#include "plugin/stages/testing/stage_fixture.h"

namespace headcrash::timetravel {
namespace {

class Served {
 public:
  Served() {
    stages = std::move(*ServedStages::listen(folder_ / "guest", 2));
    EXPECT_TRUE(stages->start(*server, [this](const std::string& line) {
      const std::lock_guard lock(mutex_);
      log_ += line + "\n";
    }));
  }
  ~Served() { stages->stop(); }
  std::filesystem::path socket(const std::string& name) const {
    return folder_ / ("guest." + name);
  }
  bool logged(const std::string& words) {
    for (int i = 0; i < 2000; ++i, std::this_thread::sleep_for(std::chrono::milliseconds(1))) {
      const std::lock_guard lock(mutex_);
      if (log_.find(words) != std::string::npos) return true;
    }
    return false;
  }
  /// Loads a stage. Retries for about 2 s, because the calendar may not have noticed yet that a
  /// client has disconnected. Returns false if every attempt fails.
  bool loads(std::size_t stage, std::uint64_t sectors) {
    for (int i = 0; i < 2000; ++i, std::this_thread::sleep_for(std::chrono::milliseconds(1)))
      if (server->load({.stage = stage, .sectors = sectors})) return true;
    return false;
  }

  std::unique_ptr<stages::StageServer> server = stages::start_stages(2);
  std::unique_ptr<ServedStages> stages;

 private:
  TemporaryFolder folder_;
  std::mutex mutex_;
  std::string log_;
};

constexpr std::uint64_t kStageSectors = 4096;

TEST(ServedStages, RejectsAClientOfAnEmptyStage) {
  Served served;
  const base::Descriptor early = connect(served.socket("1"));
  std::byte byte{};
  EXPECT_EQ(::recv(early.get(), &byte, 1, 0), 0);
  EXPECT_TRUE(served.logged("stage 1: stage 1: has no state yet"));
}

TEST(ServedStages, EachStageHasSeparateDisks) {
  Served served;
  stages::load(*served.server,
               {.stage = 0,
                .sectors = kStageSectors,
                .other_disks = {{"log", kStageSectors / 2}, {"hd1", kStageSectors / 4}}});
  stages::load(*served.server, {.stage = 1, .sectors = 2 * kStageSectors});
  const auto sectors = [&](const std::string& name) {
    vhost::TestClient client(served.socket(name));
    const base::Descriptor channel = client.set_up_in_band();
    std::vector<std::byte> asked(12 + 60);
    asked[4] = std::byte{60};
    const auto config = client.ask(vhost::Verb::get_config, asked);
    std::uint64_t count = 0;
    if (config.size() == asked.size()) std::memcpy(&count, config.data() + 12, sizeof count);
    return count;
  };
  EXPECT_EQ(sectors("0"), kStageSectors);
  EXPECT_EQ(sectors("0.log"), kStageSectors / 2);
  EXPECT_EQ(sectors("0.hd1"), kStageSectors / 4);
  EXPECT_EQ(sectors("1"), 2 * kStageSectors);
}

TEST(ServedStages, ADiskStaysUnchangedUntilItsClientDisconnects) {
  Served served;
  stages::load(*served.server, {.stage = 0, .sectors = kStageSectors});
  {
    vhost::TestClient client(served.socket("0"));
    const base::Descriptor channel = client.set_up_in_band();
    EXPECT_FALSE(served.server->load({.stage = 0, .sectors = 2 * kStageSectors}));
    EXPECT_TRUE(served.server->load({.stage = 0, .sectors = kStageSectors}));
  }
  EXPECT_TRUE(served.loads(0, 2 * kStageSectors));
}

}  // namespace
}  // namespace headcrash::timetravel
