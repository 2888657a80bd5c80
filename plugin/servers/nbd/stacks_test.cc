// Tests arrays, caches, flash and machines with several devices, as seen by clients and operators.
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <set>
#include <thread>

#include "plugin/record/recording.h"
#include "plugin/servers/nbd/testing/served_disk.h"

namespace headcrash::nbd {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const std::vector<std::string> kArray = {"raid5-5", "size=32M", "clock=off"};

const json& device(const json& stats, const std::string& name) {
  for (const json& one : stats["devices"])
    if (one["name"] == name) return one;
  ADD_FAILURE() << "no device " << name << " in " << stats;
  return stats;
}

std::string machine_file(const TemporaryFolder& folder) {
  const std::string path = folder / "machine.toml";
  std::ofstream(path) << R"(
fault = ["latent-error:log,lba=800+8"]
[[device]]
name = "data"
profile = "raid5-5"
size = "32M"
[[device]]
name = "log"
profile = "hp-c2447"
size = "8M"
)";
  return path;
}

TEST(Stacks, AMachineServesEachOfItsDevices) {
  TemporaryFolder folder;
  const std::string recording = folder / "run.rec";
  const std::vector<std::string> arguments = {"machine=" + machine_file(folder), "clock=off",
                                              "store=" + (folder / "store"), "record=" + recording};
  {
    ServedDisk disk(folder, arguments);
    Client data(disk, "disk/data");
    Client first(disk);
    Client log(disk, "disk/log");
    EXPECT_EQ(nbd_get_size(log.handle()), 8 << 20);
    EXPECT_EQ(nbd_get_size(first.handle()), nbd_get_size(data.handle()));
    EXPECT_EQ(data.write(100, block('d', 200)), 0);
    EXPECT_EQ(log.write(100, block('l')), 0);
    EXPECT_EQ(log.flush(), 0);
    EXPECT_EQ(read_block(first, 100), block('d'));
    std::vector<char> bytes(512);
    EXPECT_EQ(log.read(803, bytes), EIO) << "the fault from the machine file";
    const json stats = disk.control(R"({"stats":"read"})");
    EXPECT_EQ(stats["devices"][0]["name"], "data");
    EXPECT_EQ(stats["devices"].size(), 7U) << "an array with five members, and the log";
    EXPECT_EQ(device(stats, "data")["parent"], nullptr);
    EXPECT_EQ(device(stats, "data.3")["parent"], "data");
    EXPECT_FALSE(device(stats, "data.3").contains("latency"));
    EXPECT_TRUE(device(stats, "log").contains("latency"));
    EXPECT_GT(device(stats, "data.3")["counters"]["writes"], 0);
    EXPECT_TRUE(disk.control(R"({"power":"cut"})")["ok"]);
    EXPECT_EQ(data.read(0, bytes), EIO);
    EXPECT_EQ(log.read(0, bytes), EIO) << "all devices share one power cord";
    EXPECT_TRUE(disk.control(R"({"power":"on"})")["ok"]);
    EXPECT_EQ(read_block(log, 100), block('l'));
  }
  for (const char* image : {"data.0", "data.1", "data.2", "data.3", "data.4", "log"})
    EXPECT_TRUE(fs::exists(folder / "store" + ("/" + std::string(image) + ".img"))) << image;
  auto reader = record::RecordingReader::open(recording);
  ASSERT_TRUE(reader) << reader.error().message();
  std::vector<std::string> names;
  for (const auto& one : reader->header().devices) names.push_back(one.name);
  EXPECT_EQ(names, (std::vector<std::string>{"data", "data.0", "data.1", "data.2", "data.3",
                                             "data.4", "log"}));
  std::set<std::string> incidents;
  for (auto event = reader->next(); event && *event; event = reader->next())
    if ((*event)->kind == record::Kind::fault)
      incidents.emplace(reinterpret_cast<const char*>((*event)->payload.data()),
                        (*event)->payload.size());
  EXPECT_TRUE(incidents.contains("fault added: latent-error:log,lba=800+8"));
}

// With clock=off, time does not advance between requests, and therefore no background work is done.
TEST(Stacks, QuietTimeIsReportedOnlyIfNothingIsLeftToWrite) {
  struct Case {
    const char* profile;
    bool volatile_cache;  // if true, a flush empties the cache
    bool battery;         // if true, the cache stays dirty after a flush
  };
  for (const Case& one : {Case{"hp-c2447", true, false}, Case{"sata-ssd", true, false},
                          Case{"raid5-5", false, false}, Case{"netra-raid5-presto", false, true}}) {
    SCOPED_TRACE(one.profile);
    TemporaryFolder folder;
    std::vector<std::string> parameters{one.profile, "size=64M", "clock=off"};
    if (one.volatile_cache) parameters.emplace_back("write-cache=on");
    ServedDisk disk(folder, parameters);
    Client client(disk);
    EXPECT_EQ(client.write(5000, block('q', 8)), 0);
    const json written = disk.control(R"({"stats":"read"})");
    EXPECT_EQ(written["quiet_since_ns"].is_null(), one.volatile_cache || one.battery)
        << written["quiet_since_ns"];
    EXPECT_EQ(client.flush(), 0);
    const json flushed = disk.control(R"({"stats":"read"})");
    EXPECT_EQ(flushed["quiet_since_ns"].is_null(), one.battery);
    if (one.battery) continue;
    EXPECT_GT(flushed["quiet_since_ns"], 0);
    EXPECT_LE(flushed["quiet_since_ns"], flushed["model_ns"]);
  }
}

TEST(Stacks, RebuildAFailedMember) {
  TemporaryFolder folder;
  ServedDisk disk(folder, {"raid5-5", "size=32M", "clock=real:0.001"});
  Client client(disk);
  for (unsigned i = 0; i < 16; ++i)
    EXPECT_EQ(client.write(i * 1000, block(static_cast<char>('a' + i), 100)), 0);
  json status = disk.control(R"({"array":"fail","member":1})");
  EXPECT_EQ(status["members"][1], "failed") << status;
  EXPECT_EQ(status["members"][0], "active");
  for (unsigned i = 0; i < 16; ++i)
    EXPECT_EQ(read_block(client, i * 1000, 100), block(static_cast<char>('a' + i), 100))
        << "degraded";
  EXPECT_EQ(client.write(5, block('n', 100)), 0);
  status = disk.control(R"({"array":"rebuild","device":"hd0","member":1})");
  EXPECT_TRUE(status["ok"]) << status;
  const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (disk.control(R"({"array":"status"})")["background"] != "" &&
         std::chrono::steady_clock::now() < patience)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(disk.control(R"({"array":"status"})")["members"][1], "active");
  EXPECT_TRUE(disk.control(R"({"array":"fail","member":3})")["ok"])
      << "another member can fail now";
  EXPECT_EQ(read_block(client, 5, 100), block('n', 100));
  EXPECT_EQ(read_block(client, 3000, 100), block('d', 100));
  EXPECT_FALSE(disk.control(R"({"array":"fail","member":9})")["ok"]);
  EXPECT_FALSE(disk.control(R"({"array":"status","device":"hd0.1"})")["ok"]);
  const json array = disk.control(R"({"stats":"read"})")["devices"][0]["array"];
  EXPECT_GT(array["counters"]["degraded_reads"], 0);
}

TEST(Stacks, ScrubFindsNothingInACleanArray) {
  TemporaryFolder folder;
  ServedDisk disk(folder, {"raid5-5", "size=8M", "clock=real:0.001"});
  Client client(disk);
  EXPECT_EQ(client.write(0, block('s', 1000)), 0);
  ASSERT_TRUE(disk.control(R"({"array":"scrub"})")["ok"]);
  json status;
  const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  do {
    status = disk.control(R"({"array":"status"})");
  } while (status["background"] != "" && std::chrono::steady_clock::now() < patience);
  EXPECT_EQ(status["mismatches"], 0) << status;
  EXPECT_FALSE(disk.control(R"({"array":"explode"})")["ok"]);
  EXPECT_TRUE(disk.control(R"({"array":"rate","bytes_per_second":1000000})")["ok"]);
}

TEST(Stacks, TheCacheKeepsAcknowledgedDataAcrossACut) {
  TemporaryFolder folder;
  ServedDisk disk(folder, {"netra-raid5-presto", "size=64M", "clock=off"});
  Client client(disk);
  EXPECT_EQ(client.write(4000, block('k')), 0);
  EXPECT_EQ(client.write(4000, block('K')), 0);
  const json stats = disk.control(R"({"stats":"read"})");
  const json& nvram = stats["devices"][0]["nvram"];
  EXPECT_EQ(nvram["battery"], "ok") << stats["devices"][0];
  EXPECT_GT(nvram["counters"]["cached_writes"], 0);
  EXPECT_GT(nvram["counters"]["dirty_hits"], 0);
  cut_and_switch_on(disk);
  EXPECT_EQ(read_block(client, 4000), block('K')) << "kept without a flush";
  EXPECT_TRUE(disk.control(R"({"fault":"add","spec":"battery-low:hd0"})")["ok"]);
  EXPECT_EQ(client.write(5000, block('t')), 0);
  EXPECT_EQ(disk.control(R"({"stats":"read"})")["devices"][0]["nvram"]["battery"], "low");
}

TEST(Stacks, WriteTheirCacheBackWhenTheServerEnds) {
  TemporaryFolder folder;
  const std::vector<std::string> arguments = {"netra-raid5-presto", "size=64M", "clock=off",
                                              "store=" + (folder / "store")};
  for (char round = 'a'; round < 'd'; ++round) {
    ServedDisk disk(folder, arguments);
    Client client(disk);
    const char before = round == 'a' ? '\0' : static_cast<char>(round - 1);
    EXPECT_EQ(read_block(client, 4000), block(before));
    EXPECT_EQ(client.write(4000, block(round)), 0);
    EXPECT_GT(disk.control(R"({"stats":"read"})")["devices"][0]["nvram"]["dirty_sectors"], 0);
  }
}

TEST(Stacks, AcceptAndClearFaultsOverTheControlSocket) {
  TemporaryFolder folder;
  ServedDisk disk(folder, with(kFast, {"write-cache=off", "fault=latent-error:hd0,lba=64+8",
                                       "fault=slow:hd0,delay-ms=1"}));
  Client client(disk);
  std::vector<char> bytes(512);
  EXPECT_EQ(client.read(64, bytes), EIO);
  EXPECT_EQ(client.read(63, bytes), 0);
  EXPECT_EQ(client.write(64, block('h')), 0);
  EXPECT_EQ(read_block(client, 64), block('h')) << "a write must heal the sector";
  json list = disk.control(R"({"fault":"list"})");
  ASSERT_EQ(list["faults"].size(), 2U) << list;
  EXPECT_EQ(list["faults"][0]["spec"], "latent-error:hd0,lba=64+8");
  EXPECT_TRUE(disk.control(R"({"fault":"add","spec":"dead:hd0"})")["ok"]);
  EXPECT_EQ(client.read(0, bytes), EIO);
  EXPECT_EQ(disk.control(R"({"fault":"clear","device":"hd0","kind":"dead"})")["cleared"], 1);
  EXPECT_EQ(client.read(0, bytes), 0);
  EXPECT_EQ(disk.control(R"({"fault":"clear"})")["cleared"], 2);
  EXPECT_EQ(disk.control(R"({"fault":"list"})")["faults"].size(), 0U);
  for (const char* bad :
       {R"({"fault":"add","spec":"dead:hd1"})", R"({"fault":"add","spec":"weary:hd0"})",
        R"({"fault":"add"})", R"({"fault":"clear","kind":"weary"})",
        R"({"fault":"clear","device":"hd9"})", R"({"fault":"mend"})"})
    EXPECT_FALSE(disk.control(bad)["ok"]) << bad;
}

TEST(Stacks, ToleratesOneDeadMemberButNotTwo) {
  TemporaryFolder folder;
  ServedDisk disk(folder, with(kArray, {"fault=dead:hd0.2"}));
  Client client(disk);
  EXPECT_EQ(client.write(0, block('q', 1000)), 0);
  EXPECT_EQ(read_block(client, 0, 1000), block('q', 1000));
  EXPECT_EQ(disk.control(R"({"array":"status"})")["members"][2], "failed");
  EXPECT_TRUE(disk.control(R"({"fault":"add","spec":"dead:hd0.4"})")["ok"]);
  std::vector<char> bytes(1000 * 512);
  EXPECT_EQ(client.read(0, bytes), EIO);
}

/// A drive may be too fast for this host's timers. If everything is slowed down by the same factor,
/// the ratios of times must stay the same.
TEST(Stacks, FlashOnASlowedClockKeepsItsModelTimes) {
  TemporaryFolder folder;
  constexpr double kSlowdown = 100;
  const auto run = [&](const char* clock) {
    ServedDisk disk(folder, {"nvme-970pro", "size=64M", clock}, {"-t", "64"});
    Client client(disk);
    std::vector<std::int64_t> targets;
    std::vector<std::int64_t> achieved;
    for (int i = 0; i < 4; ++i) {
      std::vector<char> bytes(4096);
      EXPECT_EQ(i % 2 == 0 ? client.read(8 * 1000 * i, bytes) : client.write(8 * 1000 * i, bytes),
                0);
      const json latency = disk.control(R"({"stats":"take"})")["devices"][0]["latency"];
      targets.push_back(latency["target"]["max_ns"]);
      achieved.push_back(latency["achieved"]["max_ns"]);
    }
    return std::make_pair(targets, achieved);
  };
  const auto life = run("clock=off");
  const auto slowed = run(("clock=real:" + std::to_string(kSlowdown)).c_str());
  EXPECT_EQ(life.first, slowed.first) << "the model's times do not depend on the clock";
  for (std::size_t i = 0; i < slowed.first.size(); ++i)
    EXPECT_GE(slowed.second[i], slowed.first[i]);
}

/// With a slowdown of K, many concurrent requests take K times the modelled time: never less, and
/// not much more even on a busy machine. The limits are generous because the machine's load varies,
/// but they detect a factor that is applied twice or not at all.
TEST(Stacks, RequestsTakeKTimesAsLongWithAClockSlowedByK) {
  TemporaryFolder folder;
  constexpr int kRequests = 40;
  for (const int slowdown : {1, 4}) {
    ServedDisk disk(folder, {"hp-c2447", "size=64M", "clock=real:" + std::to_string(slowdown)});
    Client client(disk);
    std::vector<char> bytes(4096);
    disk.control(R"({"stats":"take"})");
    const auto begun = std::chrono::steady_clock::now();
    for (int i = 0; i < kRequests / slowdown; ++i)
      EXPECT_EQ(client.read(i * 7919 % 120'000, bytes), 0);
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begun;
    const json latency = disk.control(R"({"stats":"take"})")["devices"][0]["latency"];
    ASSERT_EQ(latency["target"]["count"], kRequests / slowdown);
    const double modelled_ns = latency["target"]["mean_ns"].get<double>() * (kRequests / slowdown);
    EXPECT_GE(took.count(), modelled_ns * slowdown * 0.99);
    EXPECT_LE(took.count(), modelled_ns * slowdown * 3 + 2e9) << "clock=real:" << slowdown;
    EXPECT_GE(latency["achieved"]["mean_ns"].get<double>(),
              latency["target"]["mean_ns"].get<double>());
  }
}

}  // namespace
}  // namespace headcrash::nbd
