// Tests a server of crash states in a child process: requests and answers, also from several
// threads.
#include "harness/device/state_server.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>
#include <set>
#include <thread>

#include "plugin/base/scratch_folder.h"

namespace headcrash::device {
namespace {

std::unique_ptr<StateServer> start(const base::ScratchFolder& folder, std::size_t stages) {
  auto server = StateServer::start(stages, folder.path());
  EXPECT_TRUE(server) << server.error().message();
  return server ? std::move(*server) : nullptr;
}

TEST(StateServer, RecordsABlankDiskAndLoadsACrashState) {
  const auto folder = base::ScratchFolder::make();
  ASSERT_TRUE(folder);
  const auto server = start(*folder, 1);
  ASSERT_TRUE(server);
  const auto run = folder->path() / "run.hcrec";
  const auto blank = server->load({.stage = 0, .sectors = 2048, .record = run});
  ASSERT_TRUE(blank) << blank.error().message();
  EXPECT_EQ(blank->sectors, 2048U);
  EXPECT_EQ(blank->nonce.size(), 16U);
  EXPECT_EQ(*server->digest(0), blank->digest);
  ASSERT_TRUE(server->mark(0, "phase workload"));
  EXPECT_EQ(*server->seal(0), 1U);
  const auto state = server->load({.stage = 0, .recording = run, .state = "w1"});
  ASSERT_TRUE(state) << state.error().message();
  EXPECT_EQ(state->digest, blank->digest);
  EXPECT_NE(state->nonce, blank->nonce);
  const auto status = server->status(0);
  ASSERT_TRUE(status);
  EXPECT_EQ((*status)["id"], "w1");
  EXPECT_EQ((*status)["nonce"], state->nonce);
  EXPECT_EQ(StateServer::disk_export(3), "stage/3");
  EXPECT_EQ(StateServer::mark_export(3), "mark/3");
}

TEST(StateServer, ReportsErrorsOfTheServer) {
  const auto folder = base::ScratchFolder::make();
  ASSERT_TRUE(folder);
  const auto server = start(*folder, 1);
  ASSERT_TRUE(server);
  const auto refused =
      server->load({.stage = 0, .recording = folder->path() / "none.hcrec", .state = "w0"});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message().find("none.hcrec"), std::string::npos)
      << refused.error().message();
  EXPECT_FALSE(server->seal(0));
  EXPECT_TRUE(server->load({.stage = 0, .sectors = 8})) << "a rejected request has no effect";
  const auto too_many = StateServer::start(65, folder->path() / "elsewhere");
  EXPECT_FALSE(too_many);
}

TEST(StateServer, ServesManyThreads) {
  // More stages than client connections, so that several threads must share a connection.
  constexpr std::size_t kStages = 12;
  const auto folder = base::ScratchFolder::make();
  ASSERT_TRUE(folder);
  const auto server = start(*folder, kStages);
  ASSERT_TRUE(server);
  std::vector<std::vector<std::string>> nonces(kStages);
  std::vector<std::thread> threads;
  for (std::size_t stage = 0; stage < kStages; ++stage)
    threads.emplace_back([&, stage] {
      for (int i = 0; i < 30; ++i) {
        const auto loaded = server->load({.stage = stage, .sectors = 64 + stage});
        ASSERT_TRUE(loaded) << loaded.error().message();
        EXPECT_EQ(loaded->sectors, 64 + stage) << "the answer belongs to another request";
        EXPECT_EQ((*server->status(stage))["nonce"], loaded->nonce);
        nonces[stage].push_back(loaded->nonce);
      }
    });
  for (auto& thread : threads) thread.join();
  std::set<std::string> different;
  for (const auto& some : nonces) different.insert(some.begin(), some.end());
  EXPECT_EQ(different.size(), kStages * 30);
}

TEST(StateServer, ReportsADeadServer) {
  const auto folder = base::ScratchFolder::make();
  ASSERT_TRUE(folder);
  const auto server = start(*folder, 1);
  ASSERT_TRUE(server);
  ASSERT_TRUE(server->alive());
  const auto stopped = server->stop();
  EXPECT_TRUE(stopped);
  EXPECT_FALSE(server->alive());
  const auto load = server->load({.stage = 0, .sectors = 8});
  ASSERT_FALSE(load);
  EXPECT_FALSE(load.error().message().empty());
}

}  // namespace
}  // namespace headcrash::device
