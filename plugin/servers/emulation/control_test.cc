// Tests which control requests are accepted and which are rejected. Also tests that the socket
// withstands misbehaving clients.
#include "plugin/servers/emulation/control.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <future>
#include <nlohmann/json.hpp>
#include <random>

#include "plugin/base/testing/temporary_folder.h"
#include "plugin/profiles/profile.h"
#include "plugin/servers/emulation/control_socket.h"
#include "plugin/servers/emulation/settings.h"

namespace headcrash::emulation {
namespace {

using nlohmann::json;

TEST(ControlCommand, AcceptsTheDocumentedCommands) {
  EXPECT_TRUE(std::holds_alternative<CutNow>(*parse_command(R"({"power":"cut"})")));
  EXPECT_TRUE(std::holds_alternative<ArmCut>(
      *parse_command(R"({"power":"cut","when":"after-mark:persisted 12+30"})")));
  EXPECT_TRUE(std::holds_alternative<Disarm>(*parse_command(R"({"power":"disarm"})")));
  EXPECT_TRUE(std::holds_alternative<PowerOn>(*parse_command(R"({"power":"on"})")));
  EXPECT_TRUE(std::holds_alternative<QueryPower>(*parse_command(R"( {"power" : "status"} )")));
  EXPECT_EQ(
      std::get<WaitCut>(*parse_command(R"({"power":"wait-cut","timeout_ms":70})")).timeout.count(),
      70);
  EXPECT_EQ(std::get<SetClock>(*parse_command(R"({"clock":"real:3"})")).clock.slowdown, 3);
  EXPECT_EQ(std::get<RecordMark>(*parse_command(R"({"mark":"x y"})")).text, "x y");
  EXPECT_EQ(std::get<QueryStatistics>(*parse_command(R"({"stats":"take"})")).afterwards,
            Emulation::Interval::restarts);
}

TEST(ControlCommand, NamesAnUnknownCommandInItsError) {
  const std::pair<std::string, const char*> table[] = {
      {"", "request"},
      {"{", "request"},
      {"[]", "request"},
      {"17", "request"},
      {"{}", "request"},
      {std::string(60000, '['), "request"},
      {"\xff\xfe\x00", "request"},
      {R"({"power":"explode"})", "power"},
      {R"({"power":3})", "power"},
      {R"({"power":null})", "power"},
      {R"({"power":"on","when":"after-ms:1"})", "when"},
      {R"({"power":"cut","when":5})", "when"},
      {R"({"power":"cut","when":"soon"})", "when"},
      {R"({"power":"cut","extra":1})", "extra"},
      {R"({"power":"wait-cut"})", "timeout_ms"},
      {R"({"power":"wait-cut","timeout_ms":-1})", "timeout_ms"},
      {R"({"power":"wait-cut","timeout_ms":1.5})", "timeout_ms"},
      {R"({"power":"wait-cut","timeout_ms":18446744073709551615})", "timeout_ms"},
      {R"({"clock":"real:0"})", "clock"},
      {R"({"clock":1})", "clock"},
      {R"({"mark":""})", "mark"},
      {R"({"mark":"a\u0000b"})", "mark"},
      {R"({"mark":")" + std::string(512, 'm') + "\"}", "mark"},
      {R"({"stats":"give"})", "stats"},
      {R"({"stats":"read","power":"on"})", "stats"},
      {R"({"reboot":1})", "request"},
  };
  for (const auto& [line, word] : table) {
    const auto command = parse_command(line);
    ASSERT_FALSE(command) << line;
    EXPECT_NE(command.error().message().find(word), std::string::npos)
        << line << " -> " << command.error().message();
  }
}

class ControlAnswer : public testing::Test {
 protected:
  ControlAnswer() {
    Settings settings;
    EXPECT_TRUE(settings.set("clock", "off"));
    EXPECT_TRUE(settings.set("size", "1M"));
    EXPECT_TRUE(settings.set("profile", "hp-c2447"));
    auto made = Emulation::create(settings, *load_hardware(settings));
    EXPECT_TRUE(made) << made.error().message();
    emulation_ = std::move(*made);
    emulation_->start(Transport::nbd);
  }
  json ask(std::string_view line) {
    const std::string text = answer(*emulation_, line, [] { return false; });
    EXPECT_EQ(text.find('\n'), std::string::npos);
    return json::parse(text, nullptr, false);
  }
  std::unique_ptr<Emulation> emulation_;
};

TEST_F(ControlAnswer, ShowsAnArmedCutUntilDisarmed) {
  EXPECT_EQ(ask(R"({"power":"cut","when":"at-flush:7"})"),
            (json{{"ok", true}, {"armed", "at-flush:7"}}));
  EXPECT_EQ(ask(R"({"power":"status"})")["armed"], "at-flush:7");
  EXPECT_EQ(ask(R"({"power":"disarm"})"), (json{{"ok", true}}));
  EXPECT_EQ(ask(R"({"power":"status"})")["armed"], nullptr);
}

TEST_F(ControlAnswer, CountsASecondPowerCutOnlyOnce) {
  EXPECT_EQ(ask(R"({"power":"status"})")["last_cut_ns"], nullptr);
  EXPECT_TRUE(ask(R"({"power":"cut"})").contains("at_ns"));
  EXPECT_TRUE(ask(R"({"power":"cut"})").contains("at_ns")) << "a second cut must not be an error";
  const json status = ask(R"({"power":"wait-cut","timeout_ms":0})");
  EXPECT_EQ(status["power"], "off");
  EXPECT_EQ(status["cuts"], 1);
  EXPECT_EQ(status["last_cut_ns"], 0);
}

TEST_F(ControlAnswer, StatisticsHaveTheDocumentedKeys) {
  const json stats = ask(R"({"stats":"take"})");
  for (const char* key :
       {"ok", "instance", "clock", "lead_ns", "power", "model_ns", "interval_model_ns",
        "interval_wall_ns", "quiet_since_ns", "recording_error", "devices"})
    EXPECT_TRUE(stats.contains(key)) << key;
  const json& device = stats["devices"][0];
  EXPECT_EQ(device["name"], "hd0");
  EXPECT_EQ(device["sectors"], 2048);
  EXPECT_EQ(device["counters"].size(), 11U);
  for (const char* kind : {"target", "achieved", "lateness"})
    EXPECT_EQ(device["latency"][kind].size(), 6U) << kind;
}

/// Holes are guaranteed to read as zeroes. Sectors whose write of zeroes was corrupted must not be
/// reported as a hole.
TEST_F(ControlAnswer, DoesNotReportCorruptedZeroesAsAHole) {
  ASSERT_NE(emulation_->written(0), nullptr);
  ASSERT_FALSE(emulation_->written(0)->run(0, 8).written);
  ASSERT_TRUE(emulation_->add_fault(*model::parse_fault("corrupted-write:hd0")));
  model::Request zeroes;
  zeroes.op = model::Op::write_zeroes;
  zeroes.sectors = 8;
  zeroes.fua = true;
  ASSERT_EQ(emulation_->serve(0, zeroes).error, 0);
  std::vector<std::byte> bytes(std::size_t{8} * model::kSectorBytes);
  model::Request read;
  read.sectors = 8;
  read.into = bytes;
  ASSERT_EQ(emulation_->serve(0, read).error, 0);
  ASSERT_NE(std::count(bytes.begin(), bytes.end(), std::byte{0}),
            static_cast<std::ptrdiff_t>(bytes.size()));
  EXPECT_TRUE(emulation_->written(0)->run(0, 8).written);
}

TEST_F(ControlAnswer, StopsWaitingWhenTheClientDisconnects) {
  const std::string text =
      answer(*emulation_, R"({"power":"wait-cut","timeout_ms":3600000})", [] { return true; });
  EXPECT_EQ(json::parse(text)["power"], "on");
}

TEST_F(ControlAnswer, IsSentForRandomAndMutatedLines) {
  std::mt19937 random(11);
  const std::string seeds[] = {R"({"power":"cut","when":"after-mark:x+1"})",
                               R"({"clock":"real:2"})", R"({"stats":"read"})", R"({"mark":"abc"})"};
  for (int i = 0; i < 5000; ++i) {
    std::string line = seeds[random() % 4];
    for (unsigned n = random() % 4 + 1; n > 0; --n)
      line[random() % line.size()] = static_cast<char>(random());
    EXPECT_TRUE(ask(line).contains("ok")) << line;
  }
}

/// A server with a full backlog is running. The check must detect such a server at once, without
/// waiting for it to accept a connection.
TEST(ControlSocketFile, ABusyServerIsDetectedWithoutWaiting) {
  const TemporaryFolder folder;
  const auto path = folder / "busy";
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.native().size());
  const int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(listen(listener, 0), 0);
  std::vector<int> clients;
  for (bool full = false; !full && clients.size() < 64;) {
    clients.push_back(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    full =
        connect(clients.back(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0;
  }
  auto refusal = std::async(std::launch::async, [&] {
    const auto made = ControlSocket::listen(path);
    return made ? std::string() : made.error().message();
  });
  const bool answered = refusal.wait_for(std::chrono::seconds(10)) == std::future_status::ready;
  EXPECT_TRUE(answered) << "the check must not wait for the backlog";
  close(listener);  // aborts the wait for the server
  for (const int client : clients) close(client);
  if (answered) {
    EXPECT_NE(refusal.get().find("another server listens"), std::string::npos);
  }
}

}  // namespace
}  // namespace headcrash::emulation
