#include "harness/vm/json_socket.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "harness/vm/qmp.h"

namespace headcrash::vm {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

struct Pair {
  Pair() : ends(JsonSocket::make_pair()) {}
  void say(const std::string& text) const {
    EXPECT_EQ(::write(ends->second.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  Result<std::pair<JsonSocket, guest::Descriptor>> ends;
};

TEST(JsonSocket, ReceivesObjectsWithinTheDeadline) {
  Pair pair;
  JsonSocket& socket = pair.ends->first;
  EXPECT_EQ(socket.receive(after(1ms)).error(), Silence::timeout);
  pair.say("{\"a\":1}\n{\"b\":");
  EXPECT_EQ(socket.receive(after(1s)).value(), json::parse("{\"a\":1}"));
  EXPECT_EQ(socket.receive(after(1ms)).error(), Silence::timeout);
  pair.say("2}\nnonsense\n[1]\n{}\n");
  EXPECT_EQ(socket.receive(after(1s)).value()["b"], 2);
  EXPECT_EQ(socket.receive(after(1s)).error(), Silence::malformed);
  EXPECT_EQ(socket.receive(after(1s)).error(), Silence::malformed);
  EXPECT_TRUE(socket.receive(after(1s)));
  pair.ends->second.reset();
  EXPECT_EQ(socket.receive(after(1s)).error(), Silence::closed);
  EXPECT_FALSE(socket.send({{"x", 1}}, after(1s)));
}

TEST(JsonSocket, GivesUpSendingToADeafPeer) {
  Pair pair;
  const json big{{"text", std::string(4 << 20, 'x')}};
  EXPECT_EQ(pair.ends->first.send(big, after(50ms)).error(), Silence::timeout);
}

TEST(Qmp, GreetsSkipsEventsAndTellsErrors) {
  Pair pair;
  pair.say(
      "{\"QMP\":{}}\n{\"return\":{}}\n{\"event\":\"STOP\"}\n{\"return\":{\"status\":\"paused\"}}\n"
      "{\"error\":{\"desc\":\"no such thing\"}}\n");
  Qmp qmp(std::move(pair.ends->first));
  ASSERT_TRUE(qmp.greet(1s));
  EXPECT_EQ(qmp.execute("query-status", json::object(), 1s).value()["status"], "paused");
  EXPECT_EQ(qmp.execute("fly", json::object(), 1s).error().message(), "QEMU: fly: no such thing");
  EXPECT_EQ(qmp.execute("stop", json::object(), 1ms).error().problem, "no answer in time");
}

TEST(Qmp, RefusesAnotherProtocol) {
  Pair pair;
  pair.say("{\"hello\":1}\n");
  Qmp qmp(std::move(pair.ends->first));
  EXPECT_FALSE(qmp.greet(1s));
}

}  // namespace
}  // namespace headcrash::vm
