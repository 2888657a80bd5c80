// Tests a calendar with a small simulated guest that behaves either like user-mode Linux or
// maliciously.
#include "plugin/servers/timetravel/calendar.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>

#include "plugin/servers/timetravel/testing/served_machine.h"
#include "plugin/servers/vhost/testing/client.h"

namespace headcrash::timetravel {
namespace {

using model::TimeNs;
using vhost::TestClient;

constexpr TimeNs kSleepsForEver = model::kNever;

using Machine = ServedMachine;

/// A guest's clock.
class Clock {
 public:
  explicit Clock(Machine& machine) : socket_(connect(machine.calendar->time_socket())) {
    ask(Op::start, 1);
    ask(Op::request, kSleepsForEver);
  }

  /// Sends a message and returns the time in its acknowledgement. Passes messages that arrive
  /// before the acknowledgement to hear().
  TimeNs ask(Op op, TimeNs time = 0) {
    send({op, ++sequence_, static_cast<std::uint64_t>(time)});
    while (const auto message = receive()) {
      if (message->op != Op::ack) {
        hear(*message);
        continue;
      }
      EXPECT_EQ(message->sequence, sequence_);
      return static_cast<TimeNs>(message->time);
    }
    return -1;
  }
  void send(const Message& message) {
    const auto bytes = bytes_of(message);
    static_cast<void>(::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL));
  }
  void wait() {
    ran_at.reset();
    ask(Op::wait);
  }
  /// Waits for a run message and returns its time. Returns -1 if none arrives within the limit.
  TimeNs wait_run(int limit_ms = 2000) {
    while (!ran_at) {
      const auto message = receive(limit_ms);
      if (!message) return -1;
      hear(*message);
    }
    return *ran_at;
  }
  bool is_closed() {
    pollfd watched = {socket_.get(), POLLIN, 0};
    std::byte byte{};
    return ::poll(&watched, 1, 2000) == 1 && ::recv(socket_.get(), &byte, 1, MSG_DONTWAIT) <= 0;
  }
  int socket() const { return socket_.get(); }

  std::optional<TimeNs> ran_at;
  TimeNs free_until = 0;

 private:
  std::optional<Message> receive(int limit_ms = 2000) {
    pollfd watched = {socket_.get(), POLLIN, 0};
    if (::poll(&watched, 1, limit_ms) != 1) return std::nullopt;
    std::array<std::byte, kMessageBytes> bytes = {};
    if (::recv(socket_.get(), bytes.data(), bytes.size(), MSG_WAITALL) != ssize_t{kMessageBytes})
      return std::nullopt;
    std::uint32_t op = 0, sequence = 0;
    std::uint64_t time = 0;
    std::memcpy(&op, bytes.data(), 4);
    std::memcpy(&sequence, bytes.data() + 4, 4);
    std::memcpy(&time, bytes.data() + 8, 8);
    return Message{static_cast<Op>(op), sequence, time};
  }
  void hear(const Message& message) {
    if (message.op == Op::run) ran_at = static_cast<TimeNs>(message.time);
    if (message.op == Op::free_until) free_until = static_cast<TimeNs>(message.time);
    send({Op::ack, message.sequence, 0});
  }

  base::Descriptor socket_;
  std::uint32_t sequence_ = 0;
};

/// Kicks a ring, and returns the number of notifications that arrive before the kick is
/// acknowledged. All requests must be complete at the acknowledgement. Without `channel`, the guest
/// examines the ring itself. With `channel`, the guest is notified by VRING_CALL messages, which it
/// acknowledges.
constexpr std::uint32_t kExaminesRing = 1;
int kick(TestClient& disk, Clock& clock, int channel = -1, std::uint32_t untold_ns = 0) {
  const std::array<std::uint32_t, 2> ring = {0, channel < 0 ? untold_ns * 2 + kExaminesRing : 0};
  disk.send(vhost::Verb::vring_kick, std::as_bytes(std::span(ring)), {}, 9);
  std::array<std::uint32_t, 5> message = {};
  for (int calls = 0;;) {
    pollfd watched[] = {
        {disk.socket(), POLLIN, 0}, {clock.socket(), POLLIN, 0}, {channel, POLLIN, 0}};
    if (::poll(watched, 3, 2000) <= 0) {
      ADD_FAILURE() << "no answer";
      return -1;
    }
    if ((watched[1].revents & POLLHUP) != 0) {
      ADD_FAILURE() << "the guest was given up";
      return -1;
    }
    if (watched[1].revents != 0) {
      clock.ask(Op::get);
      continue;
    }
    const bool called = watched[2].revents != 0;
    EXPECT_EQ(::recv(called ? channel : disk.socket(), message.data(), sizeof message, MSG_WAITALL),
              ssize_t{sizeof message});
    if (!called) {
      EXPECT_EQ(message[3], 0U);
      return calls;
    }
    ++calls;
    const std::array<std::uint32_t, 5> ack = {4, 5, 8, 0, 0};
    EXPECT_EQ(::send(channel, ack.data(), sizeof ack, MSG_NOSIGNAL), ssize_t{sizeof ack});
  }
}

/// A simulated guest: its clock, and its first disk.
class Guest {
 public:
  explicit Guest(Machine& machine)
      : disk(machine.calendar->disk_sockets().at(0)),
        clock(machine),
        channel_(disk.set_up_in_band()) {}

  void kick(TimeNs now) {
    clock.ask(Op::update, now);
    timetravel::kick(disk, clock);
  }
  /// Waits for a completion, and handles it like Linux's interrupt handler.
  TimeNs wait_interrupt() {
    std::array<std::uint32_t, 5> call = {};
    pollfd there = {channel_.get(), POLLIN, 0};
    EXPECT_EQ(::poll(&there, 1, 2000), 1);
    EXPECT_EQ(::recv(channel_.get(), call.data(), sizeof call, MSG_DONTWAIT), ssize_t{sizeof call});
    const TimeNs now = clock.ask(Op::get);
    clock.ask(Op::request, now);
    const std::array<std::uint32_t, 5> ack = {4, 5, 8, 0, 0};
    EXPECT_EQ(::send(channel_.get(), ack.data(), sizeof ack, MSG_NOSIGNAL), ssize_t{sizeof ack});
    return now;
  }
  bool has_interrupt(int limit_ms) {
    pollfd there = {channel_.get(), POLLIN, 0};
    return ::poll(&there, 1, limit_ms) == 1;
  }
  /// Returns the time that passes from the kick to the interrupt.
  TimeNs read(std::uint64_t sector, TimeNs now) {
    disk.begin(0, 0, vhost::kIn, sector, 4096, true);
    kick(now);
    clock.ask(Op::request, kSleepsForEver);
    clock.wait();
    const TimeNs at = wait_interrupt();
    EXPECT_EQ(clock.wait_run(), at);
    EXPECT_EQ(disk.status(0), 0);
    return at - now;
  }

  TestClient disk;
  Clock clock;

 private:
  base::Descriptor channel_;
};

TEST(TimeTravelCalendar, ASleepingGuestWakesAtItsInstant) {
  Machine machine;
  Clock clock(machine);
  const TimeNs begin = clock.ask(Op::get);
  EXPECT_EQ(clock.ask(Op::get_tod), begin + 1'767'225'600'000'000'000);
  TimeNs now = begin;
  for (const TimeNs later :
       {TimeNs{1}, TimeNs{256}, TimeNs{1'000'000'007}, 3'600 * model::kSecondNs}) {
    clock.ask(Op::request, now + later);
    clock.wait();
    now += later;
    EXPECT_EQ(clock.wait_run(), now);
    EXPECT_EQ(machine.emulation().now(), now);
    EXPECT_GT(clock.free_until, now);
  }
}

TEST(TimeTravelCalendar, ALaterWakeUpRequestReplacesAnEarlierOne) {
  Machine machine;
  Clock clock(machine);
  const TimeNs now = clock.ask(Op::get);
  clock.ask(Op::request, now + 5000);
  clock.ask(Op::request, now + 3000);
  clock.wait();
  EXPECT_EQ(clock.wait_run(), now + 3000);
}

TEST(TimeTravelCalendar, AReadTakesAsLongAsTheModelledDriveNeeds) {
  Machine machine;
  Guest guest(machine);
  const TimeNs now = guest.clock.ask(Op::get);
  const TimeNs took = guest.read(1000, now);
  EXPECT_GT(took, model::kMillisecondNs);
  const auto reported =
      machine.emulation().statistics(emulation::Emulation::Interval::continues).devices.at(0);
  EXPECT_EQ(reported.response_times->target.count, 1U);
  EXPECT_EQ(reported.response_times->target.max_ns, took);
}

TEST(TimeTravelCalendar, EqualGuestsObserveEqualTimes) {
  std::vector<TimeNs> seen[2];
  for (auto& times : seen) {
    Machine machine;
    Guest guest(machine);
    TimeNs now = guest.clock.ask(Op::get);
    for (std::uint64_t i = 0; i < 20; ++i) {
      times.push_back(guest.read(i * 4999, now));
      now += times.back();
    }
  }
  EXPECT_EQ(seen[0], seen[1]);
}

TEST(TimeTravelCalendar, FreeTimeEndsWhenADiskRequestOfTheGuestCompletes) {
  Machine machine;
  Guest guest(machine);
  const TimeNs begin = guest.clock.ask(Op::get);
  guest.clock.ask(Op::request, begin + 1000);
  guest.clock.wait();
  EXPECT_EQ(guest.clock.wait_run(), begin + 1000);
  const TimeNs free_before = guest.clock.free_until;
  guest.disk.begin(0, 0, vhost::kIn, 5000, 4096, true);
  guest.kick(begin + 2000);  // the guest has advanced its own time by 1000 ns since the run message
  EXPECT_EQ(machine.emulation().now(), begin + 2000);
  EXPECT_LT(guest.clock.free_until, free_before);
  EXPECT_EQ(guest.clock.free_until, machine.emulation().next_event());
  guest.clock.ask(Op::request, kSleepsForEver);
  guest.clock.wait();
  EXPECT_GE(guest.wait_interrupt(), guest.clock.free_until);
}

TEST(TimeTravelCalendar, AKickIncludesTheTimeSinceTheGuestsLastReport) {
  Machine machine;
  TestClient disk(machine.calendar->disk_sockets().at(0));
  disk.size = 16;
  Clock clock(machine);
  const base::Descriptor channel = disk.set_up_in_band();
  const TimeNs begin = clock.ask(Op::get);
  clock.ask(Op::update, begin);
  for (const std::uint16_t i : {0, 1, 2}) {
    disk.begin(0, i, vhost::kIn, 5000, 4096, true);
    kick(disk, clock, -1, 700);
    EXPECT_EQ(machine.emulation().now(), begin + (i + 1) * 700);
  }
  clock.ask(Op::update, begin + 5000);
  disk.begin(0, 3, vhost::kIn, 5000, 4096, true);
  kick(disk, clock, -1, 1);
  EXPECT_EQ(machine.emulation().now(), begin + 5001);
}

TEST(TimeTravelCalendar, TimeStopsWhileTheAgentWaitsForTheHost) {
  Machine machine;
  TestClient port(machine.calendar->port_socket());
  Clock clock(machine);
  const base::Descriptor channel = port.set_up_in_band();
  const base::Descriptor host = connect(machine.calendar->agent_socket());
  const TimeNs now = clock.ask(Op::get);
  port.begin(0, 0, vhost::kIn, AgentDisk::kStreamSector, AgentDisk::kTransferBytes, true);
  ASSERT_EQ(port.kick_in_band(0), 0U);
  clock.ask(Op::request, now + 1'000'000);
  clock.wait();
  EXPECT_EQ(clock.wait_run(50), -1);
  EXPECT_EQ(machine.emulation().now(), now);
  ASSERT_EQ(::send(host.get(), "hello\n", 6, 0), 6);
  std::array<std::uint32_t, 5> call = {};
  ASSERT_EQ(::recv(channel.get(), call.data(), sizeof call, MSG_WAITALL), ssize_t{sizeof call});
  EXPECT_EQ(clock.ask(Op::get), now);
  EXPECT_EQ(std::memcmp(port.data().data() + 4, "hello\n", 6), 0);
  const std::array<std::uint32_t, 5> ack = {4, 5, 8, 0, 0};
  ASSERT_EQ(::send(channel.get(), ack.data(), sizeof ack, 0), ssize_t{sizeof ack});
  EXPECT_EQ(clock.wait_run(), now + 1'000'000);  // the agent no longer waits for the host
}

TEST(TimeTravelCalendar, TheHostGetsTheAgentsTextWhenTimeStops) {
  Machine machine;
  TestClient port(machine.calendar->port_socket());
  Clock clock(machine);
  const base::Descriptor channel = port.set_up_in_band();
  const base::Descriptor host = connect(machine.calendar->agent_socket());
  const TimeNs now = clock.ask(Op::get);
  const std::uint32_t length = 5;
  std::memcpy(port.data().data(), &length, sizeof length);
  std::memcpy(port.data().data() + 4, "done\n", length);
  port.begin(0, 0, vhost::kOut, AgentDisk::kStreamSector, AgentDisk::kTransferBytes, false);
  EXPECT_EQ(kick(port, clock), 0);
  const auto heard = [&](int limit_ms) {
    pollfd watched = {host.get(), POLLIN, 0};
    return ::poll(&watched, 1, limit_ms) == 1;
  };
  EXPECT_FALSE(heard(50));  // no message arrives, because the guest is running
  clock.ask(Op::request, now + 1000);
  clock.wait();
  EXPECT_EQ(clock.wait_run(), now + 1000);
  EXPECT_FALSE(heard(50));
  port.begin(0, 1, vhost::kIn, AgentDisk::kStreamSector, AgentDisk::kTransferBytes, true);
  kick(port, clock);
  clock.ask(Op::request, now + 9000);
  clock.wait();
  EXPECT_TRUE(heard(2000));
  EXPECT_EQ(machine.emulation().now(), now + 1000);
}

TEST(TimeTravelCalendar, NothingRunsWithoutPower) {
  Machine machine;
  Guest guest(machine);
  const TimeNs now = guest.clock.ask(Op::get);
  ASSERT_TRUE(machine.emulation().arm("after-ms:0.5", *model::parse_cut_trigger("after-ms:0.5")));
  guest.clock.ask(Op::request, now + model::kMillisecondNs);
  guest.clock.wait();
  EXPECT_EQ(guest.clock.wait_run(50), -1);
  EXPECT_EQ(machine.emulation().power_status().last_cut_at, now + model::kMillisecondNs / 2);
  EXPECT_EQ(machine.emulation().now(), now + model::kMillisecondNs / 2);
  // The guest stays dead after a power-on, but a new guest can run.
  machine.emulation().power_on();
  ASSERT_TRUE(guest.clock.ask(Op::get) >= 0);
  EXPECT_EQ(guest.clock.wait_run(50), -1);
  EXPECT_EQ(machine.emulation().now(), now + model::kMillisecondNs / 2);
}

TEST(TimeTravelCalendar, RequestsInFlightEndAtAPowerCut) {
  Machine machine;
  Guest guest(machine);
  guest.disk.begin(0, 0, vhost::kIn, 5000, 4096, true);
  guest.kick(guest.clock.ask(Op::get));
  EXPECT_TRUE(machine.emulation().next_event());
  machine.emulation().cut_power();
  const auto next = machine.emulation().next_event();
  EXPECT_TRUE(!next || *next > machine.emulation().now()) << "the cut must be processed completely";
}

TEST(TimeTravelCalendar, ANewGuestCanConnectAfterAnotherOneDied) {
  Machine machine;
  TimeNs now = 0;
  {
    Guest guest(machine);
    now = guest.clock.ask(Op::get);
    guest.disk.begin(0, 0, vhost::kIn, 5000, 4096, true);
    guest.kick(now);
  }
  const auto reads = [&] {
    return machine.emulation()
        .statistics(emulation::Emulation::Interval::continues)
        .devices.at(0)
        .response_times->target.count;
  };
  for (int i = 0; i < 2000 && reads() == 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(reads(), 1U);
  Guest next(machine);
  EXPECT_GE(next.clock.ask(Op::get), now);
  EXPECT_GT(next.read(1000, next.clock.ask(Op::get)), 0);
}

/// A mark completes before its kick is acknowledged. The guest either examines the ring itself or
/// is notified before the acknowledgement, so it needs no run message.
TEST(TimeTravelCalendar, MarksCompleteAtTheirInstant) {
  Machine machine;
  TestClient marks(machine.calendar->mark_socket());
  Clock clock(machine);
  const base::Descriptor channel = marks.set_up_in_band();
  const TimeNs now = clock.ask(Op::get);
  std::memcpy(marks.data().data(), "here", 5);
  marks.begin(0, 0, vhost::kOut, 0, 512, false);
  EXPECT_EQ(kick(marks, clock), 0);
  EXPECT_EQ(marks.status(0), 0);
  EXPECT_EQ(clock.ask(Op::get), now);
  pollfd there = {channel.get(), POLLIN, 0};
  EXPECT_EQ(::poll(&there, 1, 0), 0) << "the guest examines the ring itself";

  std::memcpy(marks.data().data(), "there", 6);
  marks.begin(0, 1, vhost::kOut, 0, 512, false);
  EXPECT_EQ(kick(marks, clock, channel.get()), 1);
  EXPECT_EQ(marks.status(1), 0);
  EXPECT_EQ(clock.ask(Op::get), now);
  clock.ask(Op::request, now + 1000);
  clock.wait();
  EXPECT_EQ(clock.wait_run(), now + 1000);
}

// ---- with a charge for processor time

/// A machine with a charge for processor time. The test adds the guest's processor time to
/// `used_ns`. The next message that causes a charge takes the time from `used_ns`.
struct Charged {
  explicit Charged(double charge)
      : machine({.charge = charge, .processor_ns = [this] { return used_ns.exchange(0); }}) {}
  TimeNs machine_now() { return machine.emulation().now(); }
  std::atomic<std::int64_t> used_ns = 0;
  Machine machine;
};

TEST(TimeTravelCalendar, ComputingTakesNoTimeUnlessCharged) {
  Charged all(0);
  Guest guest(all.machine);
  const TimeNs now = guest.clock.ask(Op::get);
  all.used_ns = 1'000'000;
  guest.disk.begin(0, 0, vhost::kIn, 5000, 4096, true);
  guest.kick(now);
  EXPECT_EQ(all.machine_now(), now);
  EXPECT_EQ(all.used_ns, 1'000'000) << "processor time must not be queried";
}

TEST(TimeTravelCalendar, RequestsAreSubmittedAfterTheComputingBeforeThem) {
  Charged all(2);
  Guest guest(all.machine);
  const TimeNs now = guest.clock.ask(Op::get);
  all.used_ns = 1'000'000;
  guest.disk.begin(0, 0, vhost::kIn, 5000, 4096, true);
  guest.kick(now);
  EXPECT_EQ(all.machine_now(), now + 2'000'000);
  EXPECT_EQ(guest.clock.ask(Op::get), now) << "a running guest may have earlier timers";
  guest.clock.ask(Op::request, kSleepsForEver);
  guest.clock.wait();
  const TimeNs at = guest.wait_interrupt();
  EXPECT_GT(at, now + 2'000'000 + model::kMillisecondNs);
  EXPECT_EQ(guest.clock.wait_run(), at) << "it must now have the machine's time";
}

/// A read completes while the guest computes for 30 ms. The guest receives the completion only when
/// it stops computing.
TEST(TimeTravelCalendar, CompletionsDuringComputingAreDeliveredAfterIt) {
  Charged all(1);
  Guest guest(all.machine);
  const TimeNs now = guest.clock.ask(Op::get);
  guest.disk.begin(0, 0, vhost::kIn, 5000, 4096, true);
  guest.kick(now);
  all.used_ns = 30'000'000;
  guest.clock.ask(Op::request, kSleepsForEver);
  guest.clock.wait();
  EXPECT_EQ(guest.wait_interrupt(), now + 30'000'000);
  const auto reported =
      all.machine.emulation().statistics(emulation::Emulation::Interval::continues).devices.at(0);
  EXPECT_LT(reported.response_times->target.max_ns, 30'000'000) << "the drive must not be slower";
}

/// The calendar can advance the clock of a waiting kernel only to the time of the kernel's next
/// timer. Timers that became due while the guest was computing must therefore fire first, each at
/// its own instant. Only then may the interrupt follow.
TEST(TimeTravelCalendar, TimersDueDuringComputingFireFirstAndOnTime) {
  Charged all(1);
  Guest guest(all.machine);
  const TimeNs now = guest.clock.ask(Op::get);
  guest.disk.begin(0, 0, vhost::kIn, 5000, 4096, true);
  guest.kick(now);
  all.used_ns = 30'000'000;
  guest.clock.ask(Op::request, now + 1'000'000);
  guest.clock.wait();
  EXPECT_EQ(guest.clock.wait_run(), now + 1'000'000);
  EXPECT_EQ(guest.clock.free_until, now + 30'000'000) << "no later than the pending interrupt";
  EXPECT_EQ(guest.clock.ask(Op::get), now + 1'000'000);
  guest.clock.ask(Op::request, kSleepsForEver);
  guest.clock.wait();
  EXPECT_EQ(guest.wait_interrupt(), now + 30'000'000);
}

TEST(TimeTravelCalendar, AChargedGuestMustReportWhenItSleeps) {
  Charged all(1);
  Clock clock(all.machine);
  const TimeNs now = clock.ask(Op::get);
  clock.ask(Op::request, now + 1000);
  clock.wait();
  EXPECT_EQ(clock.wait_run(), now + 1000);
  EXPECT_EQ(clock.free_until, now + 2000);
}

/// A guest reads the mark disk after it has computed. The answer is delayed until the guest waits,
/// and the guest's clock then equals the machine's.
TEST(TimeTravelCalendar, ImmediateCompletionsWaitUntilAGuestsComputingIsCharged) {
  Charged all(1);
  TestClient marks(all.machine.calendar->mark_socket());
  Clock clock(all.machine);
  const base::Descriptor channel = marks.set_up_in_band();
  const TimeNs now = clock.ask(Op::get);
  all.used_ns = 5000;
  marks.begin(0, 0, vhost::kIn, 0, 512, true);
  EXPECT_EQ(kick(marks, clock, channel.get()), 0);
  clock.ask(Op::request, kSleepsForEver);
  clock.wait();
  pollfd there = {channel.get(), POLLIN, 0};
  ASSERT_EQ(::poll(&there, 1, 2000), 1) << "it must be handed back before the guest waits";
  std::array<std::uint32_t, 5> call = {};
  ASSERT_EQ(::recv(channel.get(), call.data(), sizeof call, MSG_DONTWAIT), ssize_t{sizeof call});
  EXPECT_EQ(clock.ask(Op::get), now + 5000);
}

TEST(TimeTravelCalendar, APowerCutEndsComputing) {
  Charged all(1);
  Guest guest(all.machine);
  const TimeNs now = guest.clock.ask(Op::get);
  ASSERT_TRUE(
      all.machine.emulation().arm("after-ms:0.5", *model::parse_cut_trigger("after-ms:0.5")));
  all.used_ns = 30'000'000;
  guest.clock.ask(Op::request, kSleepsForEver);
  guest.clock.wait();
  EXPECT_EQ(guest.clock.wait_run(50), -1);
  EXPECT_EQ(all.machine_now(), now + model::kMillisecondNs / 2);
}

TEST(TimeTravelCalendar, ALoopingGuestIsDisconnected) {
  Machine machine({.compute_limit = std::chrono::milliseconds(50)});
  Clock clock(machine);
  EXPECT_TRUE(machine.wait_log("it has computed for"));
  EXPECT_TRUE(clock.is_closed());
}

TEST(TimeTravelCalendar, AGuestThatSleepsForeverIsLogged) {
  Machine machine({.compute_limit = std::chrono::milliseconds(200)});
  Clock clock(machine);
  clock.wait();
  EXPECT_TRUE(machine.wait_log("no event will wake it up"));
}

TEST(TimeTravelCalendar, InvalidMessagesDisconnectOnlyTheGuestThatSentThem) {
  Machine machine;
  const auto wrong = [&](const std::string& words, const std::function<void(Clock&)>& act) {
    Clock clock(machine);
    act(clock);
    EXPECT_TRUE(machine.wait_log(words)) << words;
    EXPECT_TRUE(clock.is_closed()) << words;
  };
  wrong("operation 9", [](Clock& clock) { clock.send({static_cast<Op>(9), 1, 0}); });
  wrong("acknowledged", [](Clock& clock) { clock.send({Op::ack, 1, 0}); });
  wrong("sent a second wait", [](Clock& clock) {
    clock.wait();
    clock.send({Op::wait, 99, 0});
  });
  Guest guest(machine);
  EXPECT_GT(guest.read(1000, guest.clock.ask(Op::get)), 0);
}

TEST(TimeTravelCalendar, AGuestWithAnInvalidRingIsDisconnected) {
  Machine machine;
  Guest guest(machine);
  guest.disk.describe(0, 0, {TestClient::kGuest, 16, TestClient::kNext, 0});  // a chain that loops
  guest.disk.offer(0, 0);
  const std::array<std::uint32_t, 2> ring = {0, 0};
  guest.disk.send(vhost::Verb::vring_kick, std::as_bytes(std::span(ring)), {}, 9);
  EXPECT_TRUE(machine.wait_log("hd0: "));
  EXPECT_TRUE(guest.clock.is_closed());
}

/// Each kick submits a mark, which completes at once. The calendar acknowledges a kick only after
/// the guest has acknowledged the completion. This guest sends the next kick without acknowledging
/// the completion.
void kick_within_kicks(TestClient& marks, int kicks) {
  const std::array<std::uint32_t, 2> ring = {0, 0};
  std::memcpy(marks.data().data(), "here", 5);
  for (std::uint16_t i = 0; i < kicks; ++i) {
    marks.begin(0, i, vhost::kOut, 0, 512, false);
    marks.send(vhost::Verb::vring_kick, std::as_bytes(std::span(ring)), {}, 9);
    EXPECT_TRUE(marks.wait_used(0, i + 1)) << "each kick must have an unacknowledged answer";
  }
}

TEST(TimeTravelCalendar, DisconnectsAGuestThatNestsKicks) {
  constexpr int kMost = 4;
  for (const int kicks : {kMost, kMost + 1}) {
    Machine machine({.nested_kicks_most = kMost});
    TestClient marks(machine.calendar->mark_socket());
    marks.size = 16;
    Clock clock(machine);
    const base::Descriptor channel = marks.set_up_in_band();
    kick_within_kicks(marks, kicks);
    if (kicks > kMost) {
      EXPECT_TRUE(clock.is_closed()) << machine.log();
      EXPECT_NE(machine.log(), "");
    } else {
      EXPECT_GE(clock.ask(Op::get), 0) << "the next guest must be served";
      EXPECT_EQ(machine.log(), "");
    }
  }
}

TEST(TimeTravelCalendar, CanBeDestroyedWhileAGuestHasRequestsInFlight) {
  Machine machine;
  Guest guest(machine);
  guest.disk.begin(0, 0, vhost::kIn, 5000, 4096, true);
  guest.kick(guest.clock.ask(Op::get));
}

}  // namespace
}  // namespace headcrash::timetravel
