#include "harness/vm/qmp.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <thread>

namespace headcrash::vm {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

struct Pair {
  Pair() : ends(base::JsonSocket::make_pair()) {}
  void say(const std::string& text) const {
    EXPECT_EQ(::write(ends->second.get(), text.data(), text.size()),
              static_cast<ssize_t>(text.size()));
  }
  Result<std::pair<base::JsonSocket, base::Descriptor>> ends;
};

TEST(Qmp, GreetsSkipsEventsAndReportsErrors) {
  Pair pair;
  pair.say(
      "{\"QMP\":{}}\n{\"return\":{}}\n{\"event\":\"STOP\"}\n{\"return\":{\"status\":\"paused\"}}\n"
      "{\"error\":{\"desc\":\"no such thing\"}}\n");
  Qmp qmp(std::move(pair.ends->first));
  ASSERT_TRUE(qmp.greet(1s));
  EXPECT_EQ(qmp.execute("query-status", json::object(), 1s).value()["status"], "paused");
  EXPECT_EQ(qmp.execute("fly", json::object(), 1s).error().message(), "QEMU: fly: no such thing");
  EXPECT_EQ(qmp.execute("stop", json::object(), 1ms).error().problem, "timed out");
}

TEST(Qmp, RejectsAGreetingOfAnotherProtocol) {
  Pair pair;
  pair.say("{\"hello\":1}\n");
  Qmp qmp(std::move(pair.ends->first));
  EXPECT_FALSE(qmp.greet(1s));
}

}  // namespace
}  // namespace headcrash::vm
