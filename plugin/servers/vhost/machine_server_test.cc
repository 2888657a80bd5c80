// Tests an emulated machine over vhost-user: recording, power, and clients.
#include "plugin/servers/vhost/machine_server.h"

#include <gtest/gtest.h>

#include "plugin/base/testing/temporary_folder.h"
#include "plugin/record/recording.h"
#include "plugin/servers/emulation/served_machine.h"
#include "plugin/servers/vhost/testing/client.h"

namespace headcrash::vhost {
namespace {

constexpr int kOk = 0, kIoError = 1;

class ServedDisk {
 public:
  explicit ServedDisk(const std::string& clock, const std::string& write_cache = "on") {
    emulation::Settings settings;
    for (const auto& [key, value] : {std::pair<std::string, std::string>{"profile", "hp-c2447"},
                                     {"size", "64M"},
                                     {"clock", clock},
                                     {"write-cache", write_cache},
                                     {"lead", "0"},
                                     {"record", recording().string()}})
      EXPECT_TRUE(settings.set(key, value)) << key;
    auto hardware = emulation::load_hardware(settings);
    server = std::move(*MachineServer::listen(socket(), {"hd0"}));
    machine = std::move(*emulation::ServedMachine::open(settings, std::move(*hardware)));
    machine->start(emulation::Transport::vhost_user);
    EXPECT_TRUE(server->start(machine->emulation(), {}, [this](const std::string& line) {
      const std::lock_guard lock(mutex_);
      log_ += line + "\n";
    }));
  }
  ~ServedDisk() { end(); }

  void end() {
    machine->shut_down();
    server->stop();
    EXPECT_TRUE(machine->stop());
  }
  std::filesystem::path socket() const { return folder_ / "disk"; }
  std::filesystem::path recording() const { return folder_ / "run.hcrec"; }
  emulation::Emulation& emulation() { return machine->emulation(); }
  model::DeviceCounters counters() {
    return emulation().statistics(emulation::Emulation::Interval::continues).devices.at(0).counters;
  }
  bool wait_in_flight(std::size_t count) {
    const auto there = [&] {
      return emulation().statistics(emulation::Emulation::Interval::continues).in_flight_max >=
             count;
    };
    for (int i = 0; i < 2000 && !there(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return there();
  }
  std::string log() {
    const std::lock_guard lock(mutex_);
    return log_;
  }
  std::vector<record::Event> events() const {
    auto reader = record::RecordingReader::open(recording());
    EXPECT_TRUE(reader);
    std::vector<record::Event> all;
    while (auto event = *reader->next()) all.push_back(std::move(*event));
    EXPECT_EQ(reader->tail(), record::Tail::whole);
    return all;
  }

  std::unique_ptr<MachineServer> server;
  std::unique_ptr<emulation::ServedMachine> machine;

 private:
  TemporaryFolder folder_;
  std::mutex mutex_;
  std::string log_;
};

std::size_t count(const std::vector<record::Event>& events, record::Kind kind, model::Op op) {
  return static_cast<std::size_t>(std::ranges::count_if(
      events, [&](const record::Event& event) { return event.kind == kind && event.op == op; }));
}

class VhostMachine : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Clocks, VhostMachine, testing::Values("off", "real"));

TEST_P(VhostMachine, RecordsTheRequestsOfEveryQueue) {
  ServedDisk disk(GetParam());
  {
    TestClient client(disk.socket());
    client.set_up(0);
    client.start(1);
    std::ranges::fill(client.data(), std::byte{'a'});
    EXPECT_EQ(client.command(0, kOut, 0, 4096, false), kOk);
    std::ranges::fill(client.data(), std::byte{'b'});
    EXPECT_EQ(client.command(1, kOut, 8, 4096, false), kOk);
    EXPECT_EQ(client.command(1, kFlush, 0, 0, false), kOk);
    // Once a flush is acknowledged, the data must be on the disk.
    EXPECT_EQ(disk.counters().flushes, 1U);
    EXPECT_GE(disk.counters().media_sectors_written, 16U);
    EXPECT_EQ(client.command(0, kIn, 8, 4096, true), kOk);
    EXPECT_EQ(client.data()[0], std::byte{'b'});
  }
  disk.end();
  EXPECT_FALSE(std::filesystem::exists(disk.socket()));
  EXPECT_FALSE(std::filesystem::exists(disk.server->mark_socket()));
  const auto events = disk.events();
  EXPECT_EQ(count(events, record::Kind::submit, model::Op::write), 2U);
  // The shutdown sends the second flush.
  EXPECT_EQ(count(events, record::Kind::submit, model::Op::flush), 2U);
  EXPECT_EQ(disk.log(), "");
}

TEST(VhostMachinePower, ACutFailsTheRequestInFlightAndLaterOnes) {
  // the clock is slowed down by a factor of 20, so that a request takes 200 ms
  ServedDisk disk("real:20", "off");
  TestClient client(disk.socket());
  client.size = 128;
  client.set_up();
  client.begin(0, 0, kOut, 64000, 4096, false);
  ASSERT_TRUE(disk.wait_in_flight(1));
  EXPECT_EQ(client.used(0), 0);
  disk.emulation().cut_power();
  EXPECT_TRUE(client.wait_used(0, 1));
  EXPECT_EQ(client.status(0), kIoError);
  client.begin(0, 1, kOut, 0, 512, false);
  EXPECT_TRUE(client.wait_used(0, 2));
  EXPECT_EQ(client.status(1), kIoError);
  client.begin(0, 2, kFlush, 0, 0, false);
  EXPECT_TRUE(client.wait_used(0, 3));
  EXPECT_EQ(client.status(2), kIoError);
  EXPECT_NE(disk.log().find("hd0: write of 8 sectors at 64000 failed: the power is off"),
            std::string::npos)
      << disk.log();
  disk.emulation().power_on();
  ASSERT_TRUE(disk.emulation().set_clock({.kind = emulation::Clock::Kind::off}));
  client.begin(0, 3, kOut, 0, 512, false);
  EXPECT_TRUE(client.wait_used(0, 4));
  EXPECT_EQ(client.status(3), kOk);
}

TEST(VhostMachineClients, AClientCanHaveManyRequestsInFlight) {
  ServedDisk disk("real:20", "off");
  TestClient client(disk.socket());
  client.size = 128;
  client.set_up();
  for (std::uint16_t slot = 0; slot < 40; ++slot)
    client.begin(0, slot, kOut, std::uint64_t{3000} * slot, 512, false);
  EXPECT_TRUE(disk.wait_in_flight(40));
  ASSERT_TRUE(disk.emulation().set_clock({.kind = emulation::Clock::Kind::off}));
  EXPECT_TRUE(client.wait_used(0, 40));
}

TEST(VhostMachineClients, ADisconnectedClientFreesTheDisk) {
  ServedDisk disk("real:20", "off");
  {
    TestClient client(disk.socket());
    client.set_up();
    client.begin(0, 0, kOut, 64000, 4096, false);
    ASSERT_TRUE(disk.wait_in_flight(1));
  }
  TestClient next(disk.socket());
  next.set_up();
  ASSERT_TRUE(disk.emulation().set_clock({.kind = emulation::Clock::Kind::off}));
  EXPECT_EQ(next.command(0, kFlush, 0, 0, false), kOk);
}

TEST(VhostMachineClients, AMisbehavingClientIsLoggedAndFreesTheDisk) {
  ServedDisk disk("off");
  {
    TestClient client(disk.socket());
    client.set_up();
    client.offer(0, 8);
    EXPECT_FALSE(client.wait_call());
  }
  TestClient next(disk.socket());
  next.set_up();
  EXPECT_EQ(next.command(0, kFlush, 0, 0, false), kOk);
  EXPECT_NE(disk.log().find("hd0: its client was disconnected"), std::string::npos) << disk.log();
}

TEST(VhostMachineClients, StoppingDoesNotWaitForRequestsInFlight) {
  ServedDisk disk("real:10000", "off");
  TestClient client(disk.socket());
  client.set_up();
  client.begin(0, 0, kOut, 64000, 4096, false);
  ASSERT_TRUE(disk.wait_in_flight(1));
  const auto before = std::chrono::steady_clock::now();
  disk.end();
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(5));
}

TEST(VhostMachineMarks, AreSentThroughASeparateDisk) {
  ServedDisk disk("real");
  {
    TestClient client(disk.server->mark_socket());
    client.set_up();
    EXPECT_EQ(client.command(0, kIn, 0, 512, true), kOk);
    EXPECT_STREQ(reinterpret_cast<const char*>(client.data().data()),
                 disk.emulation().instance().c_str());
    std::ranges::fill(client.data(), std::byte{0});
    EXPECT_EQ(client.command(0, kOut, 0, 512, false), kIoError);  // an empty mark is rejected
    std::memcpy(client.data().data(), "persisted 1", 12);
    EXPECT_EQ(client.command(0, kOut, 0, 512, false), kOk);
    disk.emulation().cut_power();
    EXPECT_EQ(client.command(0, kOut, 0, 512, false), kIoError);
  }
  disk.end();
  std::size_t marks = 0;
  for (const record::Event& event : disk.events()) {
    if (event.kind != record::Kind::mark) continue;
    ++marks;
    EXPECT_EQ(
        std::string(reinterpret_cast<const char*>(event.payload.data()), event.payload.size()),
        "persisted 1");
  }
  EXPECT_EQ(marks, 1U);
}

TEST(VhostMachineSockets, AreExclusiveAndReplacedAfterTheServerEnds) {
  const TemporaryFolder folder;
  auto first = MachineServer::listen(folder / "disk", {"data", "log"});
  ASSERT_TRUE(first);
  EXPECT_TRUE(std::filesystem::is_socket(folder / "disk"));
  EXPECT_TRUE(std::filesystem::is_socket(folder / "disk.log"));
  EXPECT_TRUE(std::filesystem::is_socket(folder / "disk.mark"));
  const auto second = MachineServer::listen(folder / "disk", {"data", "log"});
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message().find("another server listens on it"), std::string::npos);
  // The rejected server must not have changed the first server's socket.
  EXPECT_TRUE(std::filesystem::is_socket(folder / "disk"));
  first->reset();
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  // A server that is killed leaves a socket file without a listener.
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::strcpy(address.sun_path, (folder / "disk").c_str());
  {
    const base::Descriptor killed(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(::bind(killed.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }
  EXPECT_TRUE(MachineServer::listen(folder / "disk", {"data"}));
  EXPECT_FALSE(MachineServer::listen(folder / "nowhere" / "disk", {"data"}));
  EXPECT_FALSE(MachineServer::listen(folder / std::string(120, 'x'), {"data"}));
  std::ofstream(folder / "file") << "x";
  EXPECT_FALSE(MachineServer::listen(folder / "file", {"data"}));
  EXPECT_TRUE(std::filesystem::is_regular_file(folder / "file"));
}

}  // namespace
}  // namespace headcrash::vhost
