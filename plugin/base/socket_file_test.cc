// Tests that stale socket files are replaced. Sockets of live servers, even of those that do not
// respond, and files of other types are rejected.
#include "plugin/base/socket_file.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <chrono>
#include <cstring>
#include <fstream>
#include <vector>

#include "plugin/base/descriptor.h"
#include "plugin/base/scratch_folder.h"

namespace headcrash::base {
namespace {

class SocketFileTest : public testing::Test {
 protected:
  SocketFileTest() : folder_(std::move(*ScratchFolder::make())) {}
  std::filesystem::path path() const { return folder_.path() / "a.sock"; }

  Descriptor listener(int backlog) const {
    Descriptor descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const sockaddr_un address = name();
    EXPECT_EQ(::bind(descriptor.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address),
              0);
    EXPECT_EQ(::listen(descriptor.get(), backlog), 0);
    return descriptor;
  }
  sockaddr_un name() const {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path().c_str(), path().native().size());
    return address;
  }
  std::string refusal() const {
    const auto free = make_way_for_socket(path());
    return free ? "" : free.error().message();
  }

 private:
  ScratchFolder folder_;
};

TEST_F(SocketFileTest, AMissingFileIsAccepted) {
  EXPECT_EQ(refusal(), "");
}

TEST_F(SocketFileTest, RemovesAnUnusedSocketAndRejectsOneInUse) {
  {
    const auto server = listener(1);
    EXPECT_NE(refusal().find("another server listens on it"), std::string::npos) << refusal();
    EXPECT_TRUE(std::filesystem::exists(path()));
  }
  EXPECT_TRUE(std::filesystem::exists(path()));
  EXPECT_EQ(refusal(), "");
  EXPECT_FALSE(std::filesystem::exists(path()));
}

TEST_F(SocketFileTest, ASocketWithAFullBacklogCountsAsInUse) {
  const auto server = listener(0);
  std::vector<Descriptor> waiting;
  for (int i = 0; i < 4; ++i) {
    const auto& one =
        waiting.emplace_back(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    const sockaddr_un address = name();
    static_cast<void>(
        ::connect(one.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address));
  }
  const auto before = std::chrono::steady_clock::now();
  EXPECT_NE(refusal().find("another server listens on it"), std::string::npos) << refusal();
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(5));
}

TEST_F(SocketFileTest, LeavesOtherFilesAlone) {
  std::ofstream(path()) << "text";
  EXPECT_NE(refusal().find("is not a socket"), std::string::npos) << refusal();
  EXPECT_TRUE(std::filesystem::exists(path()));
}

TEST_F(SocketFileTest, RemovesOnlyItsOwnSocket) {
  const auto server = listener(1);
  {
    const SocketFile file(path());
  }
  EXPECT_FALSE(std::filesystem::exists(path()));
  {
    const auto again = listener(1);
    const SocketFile file(path());
    std::filesystem::rename(path(), path().string() + ".moved");
    const auto other = listener(1);
  }
  EXPECT_TRUE(std::filesystem::exists(path())) << "it is of another server by now";
}

}  // namespace
}  // namespace headcrash::base
