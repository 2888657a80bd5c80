// Tests a session with a small client that behaves either like a driver or maliciously.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <future>

#include "plugin/servers/vhost/testing/client.h"

namespace headcrash::vhost {
namespace {

void fill(std::span<std::byte> bytes, int value) {
  std::fill(bytes.begin(), bytes.end(), std::byte(value));
}

TEST(VhostSession, ReadsAndWritesTheDisk) {
  TestDisk disk;
  TestClient client(disk.disk());
  client.set_up();
  fill(client.data(), 'w');
  EXPECT_EQ(client.command(0, kOut, 8, 4096, false), 0);
  EXPECT_EQ(disk.byte(8 * 512 - 1), std::byte{0});
  EXPECT_EQ(disk.byte(8 * 512), std::byte{'w'});
  EXPECT_EQ(disk.byte(16 * 512 - 1), std::byte{'w'});
  EXPECT_EQ(disk.byte(16 * 512), std::byte{0});
  fill(client.data(), 0);
  EXPECT_EQ(client.command(0, kIn, 8, 4096, true), 0);
  EXPECT_EQ(client.data()[0], std::byte{'w'});
  EXPECT_EQ(client.data()[4095], std::byte{'w'});
  EXPECT_EQ(client.data()[4096], std::byte{0});
  std::uint32_t written = 0;
  std::memcpy(&written, client.ring(0) + 0x2004 + 8 + 4, 4);
  EXPECT_EQ(written, 4097U);
  client.hang_up();
  EXPECT_EQ(client.error(), "no error");
}

TEST(VhostSession, FlushesDiscardsZeroesAndReportsItsName) {
  TestDisk disk;
  disk.fill(std::byte{'x'});
  TestClient client(disk.disk());
  client.set_up();
  EXPECT_EQ(client.command(0, kFlush, 0, 0, false), 0);
  EXPECT_EQ(disk.flushes, 1);
  const std::uint64_t range[] = {16, 8};
  std::memcpy(client.data().data(), range, sizeof range);
  EXPECT_EQ(client.command(0, kDiscard, 0, 16, false), 0);
  EXPECT_EQ(client.command(0, kWriteZeroes, 0, 16, false), 0);
  EXPECT_EQ(disk.trims, 1);
  EXPECT_EQ(disk.zeroes, 1);
  EXPECT_EQ(disk.byte(16 * 512), std::byte{0});
  EXPECT_EQ(disk.byte(24 * 512), std::byte{'x'});
  EXPECT_EQ(client.command(0, kGetId, 0, 20, true), 0);
  EXPECT_STREQ(reinterpret_cast<const char*>(client.data().data()), "hd0");
  EXPECT_EQ(client.command(0, 77, 0, 0, false), 2);
}

/// When Linux writes zeroes, it sets the flag that permits a trim, unless the blocks must stay
/// allocated.
TEST(VhostSession, ZeroesByATrimOnlyIfTrimmedSectorsReadAsZeroes) {
  for (const bool trim_zeroes : {true, false}) {
    TestDisk disk;
    disk.trim_zeroes = trim_zeroes;
    disk.fill(std::byte{'x'});
    TestClient client(disk.disk());
    client.set_up();
    const std::uint64_t range[] = {
        16, 8 | std::uint64_t{1} << 32};  // the sector, the number of sectors, and the flag UNMAP
    std::memcpy(client.data().data(), range, sizeof range);
    EXPECT_EQ(client.command(0, kWriteZeroes, 0, 16, false), 0);
    EXPECT_EQ(disk.byte(16 * 512), std::byte{0});
    EXPECT_EQ(disk.trims, trim_zeroes ? 1 : 0);
    EXPECT_EQ(device_config(disk.disk(), 1)[56], std::byte{trim_zeroes});
    EXPECT_EQ(client.command(0, kDiscard, 0, 16, false), 2) << "a discard has no such flag";
  }
}

TEST(VhostSession, ReportsCapacityAndQueues) {
  TestDisk disk;
  TestClient client(disk.disk());
  EXPECT_EQ(client.ask64(Verb::get_queue_num), 2U);
  std::vector<std::byte> asked(12 + 60);
  asked[4] = std::byte{60};
  const auto config = client.ask(Verb::get_config, asked);
  ASSERT_EQ(config.size(), 72U);
  std::uint64_t capacity = 0;
  std::memcpy(&capacity, config.data() + 12, 8);
  EXPECT_EQ(capacity, TestDisk::kSectors);
  EXPECT_EQ(config[12 + 34], std::byte{2});
}

std::uint32_t stop_ring(TestClient& client, std::uint64_t ring) {
  const auto state = client.ask(Verb::get_vring_base, std::as_bytes(std::span(&ring, 1)));
  std::uint32_t base = ~0U;
  EXPECT_EQ(state.size(), 8U);
  if (state.size() == 8) std::memcpy(&base, state.data() + 4, sizeof base);
  return base;
}

TEST(VhostSession, ServesSeveralQueuesAndResumesAStoppedOne) {
  TestDisk disk;
  TestClient client(disk.disk());
  client.set_up(0);
  client.start(1);
  fill(client.data(), 'q');
  EXPECT_EQ(client.command(0, kOut, 0, 512, false), 0);
  EXPECT_EQ(client.command(1, kOut, 8, 512, false), 0);
  EXPECT_EQ(stop_ring(client, 0), 1U);
  // Chains that are offered on a stopped ring must wait, while the other ring keeps working.
  fill(client.data(), 'r');
  client.begin(0, 1, kOut, 16, 512, false);
  EXPECT_EQ(client.command(1, kOut, 24, 512, false), 0);
  EXPECT_EQ(client.used(0), 1);
  EXPECT_EQ(disk.byte(16 * 512), std::byte{0});
  // The ring must resume where it stopped. The chain that was offered while the ring was stopped is
  // the ring's second chain, and must get the second entry in `used`.
  client.start(0, 1);
  client.kick_only(0);
  EXPECT_TRUE(client.wait_used(0, 2));
  EXPECT_TRUE(client.wait_call());
  EXPECT_EQ(client.status(1), 0);
  EXPECT_EQ(disk.byte(0), std::byte{'q'});
  EXPECT_EQ(disk.byte(8 * 512), std::byte{'q'});
  EXPECT_EQ(disk.byte(16 * 512), std::byte{'r'});
  EXPECT_EQ(disk.byte(24 * 512), std::byte{'r'});
}

TEST(VhostSession, ContinuesWhereAnotherSessionStopped) {
  TestDisk disk;
  TestClient client(disk.disk());
  client.set_up(1);
  client.left_by_earlier_session(0, 6);
  client.start(0, 6);
  EXPECT_EQ(client.command(0, kFlush, 0, 0, false), 0);
  EXPECT_EQ(client.used(0), 7);
  EXPECT_EQ(client.command(0, kFlush, 0, 0, false), 0);
  EXPECT_EQ(client.command(0, kFlush, 0, 0, false), 0);
  EXPECT_EQ(client.used(0), 9);
  EXPECT_EQ(disk.flushes, 3);
  EXPECT_EQ(stop_ring(client, 0), 9U);
}

TEST(VhostSession, StopsARingWhenItHasNothingInFlight) {
  TestDisk memory;
  Disk disk = memory.disk();
  std::promise<void> go;
  disk.serve = [&, serve = disk.serve,
                gone = go.get_future().share()](const model::Request& request) {
    gone.wait();
    return serve(request);
  };
  TestClient client(disk);
  client.set_up();
  client.begin(0, 0, kFlush, 0, 0, false);
  auto stopped = std::async(std::launch::async, [&] { return stop_ring(client, 0); });
  EXPECT_EQ(stopped.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
  go.set_value();
  EXPECT_EQ(stopped.get(), 1U);
  EXPECT_EQ(client.used(0), 1);
  EXPECT_EQ(client.status(0), 0);
}

TEST(VhostSession, NeedsNoKickPerRequestForADiskThatCompletesAtOnce) {
  TestDisk memory;
  Disk disk = memory.disk();
  std::atomic<int> inside = 0, together = 0;
  disk.answers_at_once = [] { return true; };
  disk.serve = [&, serve = disk.serve](const model::Request& request) {
    together = std::max<int>(together, ++inside);
    const int error = serve(request);
    --inside;
    return error;
  };
  TestClient client(disk);
  client.size = 128;
  client.set_up();
  // Fills the ring several times. The client sends fewer kicks than chains, like a driver that was
  // asked to send no kicks.
  for (int round = 0; round < 20; ++round) {
    for (std::uint16_t slot = 0; slot < 40; ++slot) client.begin(0, slot, kFlush, 0, 0, false);
    EXPECT_TRUE(client.wait_used(0, static_cast<std::uint16_t>(40 * (round + 1))));
    for (std::uint16_t slot = 0; slot < 40; ++slot) EXPECT_EQ(client.status(slot), 0);
  }
  EXPECT_EQ(memory.flushes, 800);
  EXPECT_EQ(together, 1);
  // When the session becomes idle, it must enable kicks again.
  for (int i = 0; i < 2000 && client.kicks_unwanted(0); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_FALSE(client.kicks_unwanted(0));
}

/// Reads a VRING_CALL message, which has five words, from the client's end of the channel.
std::array<std::uint32_t, 5> next_call(int channel) {
  std::array<std::uint32_t, 5> words = {};
  pollfd there = {channel, POLLIN, 0};
  if (::poll(&there, 1, 2000) == 1) {
    EXPECT_EQ(::recv(channel, words.data(), sizeof words, MSG_WAITALL), ssize_t{sizeof words});
  }
  return words;
}
void acknowledge(int channel, std::uint32_t value = 0) {
  const std::array<std::uint32_t, 5> words = {4, 5, 8, value, 0};
  EXPECT_EQ(::send(channel, words.data(), sizeof words, MSG_NOSIGNAL), ssize_t{sizeof words});
}
constexpr std::array<std::uint32_t, 5> kCallOfRing0 = {4, 1 | 8, 8, 0, 0};

TEST(VhostSession, ARingEnabledBeforeItsSetupIsServedAfterTheSetup) {
  TestDisk disk;
  TestClient client(disk.disk());
  client.send64(Verb::set_features, client.ask64(Verb::get_features));
  client.send64(Verb::set_protocol_features, client.ask64(Verb::get_protocol_features));
  client.share();
  client.send_state(Verb::set_vring_enable, 1, 1);
  client.start(0);
  client.ask64(Verb::get_features);
  EXPECT_EQ(client.command(0, kFlush, 0, 0, false), 0);
  client.start(1);
  client.ask64(Verb::get_features);
  EXPECT_EQ(client.command(1, kFlush, 0, 0, false), 0);
  EXPECT_EQ(disk.flushes, 2);
}

TEST(VhostSession, NotifiesByMessagesIfTheClientNegotiatedThem) {
  for (const bool at_once : {false, true}) {
    TestDisk memory;
    Disk disk = memory.disk();
    disk.answers_at_once = [at_once] { return at_once; };
    TestClient client(disk);
    const base::Descriptor channel = client.set_up_in_band();
    for (std::uint16_t i = 1; i <= 3; ++i) {
      client.begin(0, 0, kFlush, 0, 0, false);
      EXPECT_EQ(client.kick_in_band(0), 0U);
      EXPECT_EQ(next_call(channel.get()), kCallOfRing0);
      EXPECT_EQ(client.used(0), i);
      EXPECT_EQ(client.status(0), 0);
      acknowledge(channel.get());
    }
    EXPECT_EQ(memory.flushes, 3);
    client.hang_up();
    EXPECT_EQ(client.error(), "no error");
  }
}

TEST(VhostSession, EndsAtARejectedOrUnsolicitedReply) {
  TestDisk disk;
  {
    TestClient client(disk.disk());
    const base::Descriptor channel = client.set_up_in_band();
    client.begin(0, 0, kFlush, 0, 0, false);
    EXPECT_EQ(client.kick_in_band(0), 0U);
    EXPECT_EQ(next_call(channel.get()), kCallOfRing0);
    acknowledge(channel.get(), 1);
    EXPECT_NE(client.error().find("refused a VRING_CALL"), std::string::npos);
  }
  TestClient client(disk.disk());
  const base::Descriptor channel = client.set_up_in_band();
  acknowledge(channel.get());
  EXPECT_NE(client.error().find("replied to a request that was not sent"), std::string::npos);
}

TEST(VhostSession, StopsWhenTheClientDisconnectsInTheMiddleOfAMessage) {
  for (const std::size_t bytes :
       // The first message is cut off within the header, the second between header and payload.
       {std::size_t{5}, std::size_t{12}}) {
    TestDisk disk;
    TestClient client(disk.disk());
    const std::uint32_t header[3] = {static_cast<std::uint32_t>(Verb::set_features), 1, 8};
    client.send_bytes(std::as_bytes(std::span(header)).first(bytes));
    EXPECT_TRUE(client.stops());
  }
}

TEST(VhostSession, RejectsRequestsBeyondTheDiskAndContinues) {
  TestDisk disk;
  TestClient client(disk.disk());
  client.set_up();
  EXPECT_EQ(client.command(0, kIn, TestDisk::kSectors - 1, 1024, true), 1);
  EXPECT_EQ(client.command(0, kOut, ~std::uint64_t{0}, 1024, false), 1);
  EXPECT_EQ(client.command(0, kOut, 0, 100, false), 1);
  const std::uint64_t range[] = {TestDisk::kSectors - 1, 2};
  std::memcpy(client.data().data(), range, sizeof range);
  EXPECT_EQ(client.command(0, kDiscard, 0, 16, false), 1);
  EXPECT_EQ(disk.trims, 0);
  EXPECT_EQ(client.command(0, kIn, TestDisk::kSectors - 1, 512, true), 0);
}

// ---- harmful clients

struct Harm {
  const char* name;
  void (*act)(TestClient&);
  const char* error;
};

void PrintTo(const Harm& harm, std::ostream* out) {
  *out << harm.name;
}

class VhostHarm : public testing::TestWithParam<Harm> {};

TEST_P(VhostHarm, CausesOneErrorAndLeaksNoResources) {
  const auto files = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
  };
  const auto threads = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
  };
  const auto files_before = files();
  const auto threads_before = threads();
  TestDisk disk;
  {
    TestClient client(disk.disk());
    client.set_up();
    GetParam().act(client);
    const std::string error = client.error();
    EXPECT_NE(error.find(GetParam().error), std::string::npos) << error;
  }
  EXPECT_EQ(files(), files_before);
  // The kernel may still list a thread for a moment after it has been joined.
  for (int i = 0; i < 200 && threads() > threads_before; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(threads(), threads_before);
}

using C = TestClient;
const Harm kHarms[] = {
    {"Outside",
     [](C& c) {
       c.describe(0, 0, {C::kGuest + C::kBytes - 8, 16, 0, 0});
       c.offer(0, 0);
     },
     "outside the shared memory"},
    {"Wraps",
     [](C& c) {
       c.describe(0, 0, {~std::uint64_t{0} - 4, 16, 0, 0});
       c.offer(0, 0);
     },
     "outside the shared memory"},
    {"Loop",
     [](C& c) {
       c.describe(0, 0, {C::kGuest, 16, C::kNext, 1});
       c.describe(0, 1, {C::kGuest, 16, C::kNext, 0});
       c.offer(0, 0);
     },
     "loops"},
    {"Head", [](C& c) { c.offer(0, 8); }, "no descriptor 8"},
    {"NextBeyond",
     [](C& c) {
       c.describe(0, 0, {C::kGuest, 16, C::kNext, 9});
       c.offer(0, 0);
     },
     "no descriptor 9"},
    {"IndexRunsAhead", [](C& c) { c.offer(0, 0, 9); }, "9 chains are pending in a ring of size 8"},
    {"ReadAfterWrite",
     [](C& c) {
       c.describe(0, 0, {C::kGuest, 16, C::kNext | C::kWrite, 1});
       c.describe(0, 1, {C::kGuest, 16, 0, 0});
       c.offer(0, 0);
     },
     "a readable descriptor follows"},
    {"NestedTable",
     [](C& c) {
       const TestDescriptor inner{C::kGuest + C::kData, 16, C::kIndirect, 0};
       std::memcpy(c.memory + C::kData, &inner, sizeof inner);
       c.describe(0, 0, {C::kGuest + C::kData, 16, C::kIndirect, 0});
       c.offer(0, 0);
     },
     "contains another"},
    {"TableLoops",
     [](C& c) {
       const TestDescriptor inner{C::kGuest, 1, C::kNext, 0};
       std::memcpy(c.memory + C::kData, &inner, sizeof inner);
       c.describe(0, 0, {C::kGuest + C::kData, 16, C::kIndirect, 0});
       c.offer(0, 0);
     },
     "loops"},
    {"TableLongerThanTheQueue",
     [](C& c) {
       for (std::uint16_t i = 0; i < 9; ++i) {
         const bool last = i == 8;
         const TestDescriptor inner{C::kGuest + C::kData + 0x1000, last ? 1U : 512U,
                                    last ? C::kWrite : C::kNext, static_cast<std::uint16_t>(i + 1)};
         std::memcpy(c.memory + C::kData + 16 * i, &inner, sizeof inner);
       }
       c.describe(0, 0, {C::kGuest + C::kData, 9 * 16, C::kIndirect, 0});
       c.offer(0, 0);
     },
     "longer than the queue"},
    {"NoHeader",
     [](C& c) {
       c.describe(0, 0, {C::kGuest + C::kData, 15, C::kNext, 1});
       c.describe(0, 1, {C::kGuest + C::kData, 1, C::kWrite, 0});
       c.offer(0, 0);
     },
     "no header"},
    {"NoStatus",
     [](C& c) {
       c.describe(0, 0, {C::kGuest + C::kData, 16, 0, 0});
       c.offer(0, 0);
     },
     "no room for its status"},
    {"FileShrunk",
     [](C& c) {
       EXPECT_EQ(::ftruncate(c.memory_file.get(), 0), 0);
       const std::uint64_t one = 1;
       EXPECT_EQ(::write(c.kicks[0].get(), &one, sizeof one), 8);
     },
     "truncated"},
    {"RegionBeyondFile", [](C& c) { c.share({C::kGuest, C::kBytes + 4096, C::kUser, 0}); },
     "extends beyond the end of its file"},
    {"RegionWraps", [](C& c) { c.share({~std::uint64_t{0} - 4095, C::kBytes, C::kUser, 0}); },
     "exceeds the address space"},
    {"RegionMisaligned", [](C& c) { c.share({C::kGuest, 4096, C::kUser + 1, 0}); }, "not aligned"},
    {"NoFile", [](C& c) { c.send64(Verb::set_mem_table, 1, C::kGuest, C::kBytes, C::kUser, 0); },
     "1 regions, but 0 file descriptors"},
    {"KickedByAMessageUnasked",
     [](C& c) {
       c.send64(Verb::set_protocol_features, 1U << 3);
       c.send_state(Verb::vring_kick, 0, 0);
     },
     "VRING_KICK was not negotiated"},
    {"KickOfARingThatIsNot", [](C& c) { c.send_state(Verb::vring_kick, 7, 0); }, "no ring 7"},
    {"ToBePolled",
     [](C& c) {
       c.send64(Verb::set_protocol_features, 1U << 3);
       c.send64(Verb::set_vring_kick, 0x101);
     },
     "needs polling"},
    {"BackendWithoutADescriptor", [](C& c) { c.send(Verb::set_backend_req_fd, {}); },
     "has no descriptor"},
    {"RingThatIsNot", [](C& c) { c.send_state(Verb::set_vring_num, 2, 8); }, "no ring 2"},
    {"ChangedWhileInUse", [](C& c) { c.send_state(Verb::set_vring_num, 0, 8); },
     "ring 0 is in use"},
    {"RingSize", [](C& c) { c.send_state(Verb::set_vring_num, 1, 12); },
     "12 is not a valid queue size"},
    {"FeatureNotOffered", [](C& c) { c.send64(Verb::set_features, 1); }, "were not offered"},
    {"Length", [](C& c) { c.send(Verb::set_features, {}); }, "payload of 0 bytes"},
    {"Unknown", [](C& c) { c.send(static_cast<Verb>(99), {}); }, "unknown request 99"},
    {"Version", [](C& c) { c.send(Verb::set_owner, {}, {}, 2); }, "invalid flags 0x2"},
    {"HalfAMessage",
     [](C& c) {
       EXPECT_EQ(::send(c.socket(), "abc", 3, MSG_NOSIGNAL), 3);
       c.hang_up();
     },
     "ended in the middle"},
};
INSTANTIATE_TEST_SUITE_P(, VhostHarm, testing::ValuesIn(kHarms),
                         [](const auto& harm) { return std::string(harm.param.name); });

}  // namespace
}  // namespace headcrash::vhost
