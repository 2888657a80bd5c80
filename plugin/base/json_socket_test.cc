#include "plugin/base/json_socket.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <thread>

namespace headcrash::base {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

struct Pair {
  Pair() : ends(JsonSocket::make_pair()) {}
  void say(const std::string& text) const {
    EXPECT_EQ(::write(ends->second.get(), text.data(), text.size()),
              static_cast<ssize_t>(text.size()));
  }
  Result<std::pair<JsonSocket, Descriptor>> ends;
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

TEST(JsonSocket, SendTimesOutIfThePeerDoesNotRead) {
  Pair pair;
  const json big{{"text", std::string(4 << 20, 'x')}};
  EXPECT_EQ(pair.ends->first.send(big, after(50ms)).error(), Silence::timeout);
}

}  // namespace
}  // namespace headcrash::base
