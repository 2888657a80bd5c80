// Ping-pong over a socket pair (transport_floor.h).
#include "plugin/nbd/transport_floor.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <thread>

namespace headcrash::nbd {
namespace {

constexpr int kRounds = 200;
constexpr int kRoundsAtLeast = 20;  ///< fewer say nothing: the machine is too busy, and 0 is safe
constexpr WallNs kPatienceNs = 100 * model::kMillisecondNs;
constexpr WallNs kPauseNs = 50 * model::kMicrosecondNs;  ///< lets the other side fall asleep
constexpr std::size_t kRequestBytes = 28;
constexpr std::size_t kAnswerBytes = 16 + 4096;

/// Reads all of `bytes`; false at the end of the stream or when the patience is over.
bool receive(int fd, char* into, std::size_t bytes, int flags, WallNs until) {
  while (bytes > 0) {
    const ssize_t n = recv(fd, into, bytes, flags);
    if (n < 0 && (errno == EAGAIN || errno == EINTR) && wall_now() < until) continue;
    if (n <= 0) return false;
    into += n;
    bytes -= static_cast<std::size_t>(n);
  }
  return true;
}

void answer_requests(int fd) {
  std::array<char, kAnswerBytes> bytes = {};
  while (receive(fd, bytes.data(), kRequestBytes, 0, model::kNever))
    if (send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL) < 0) return;
}

}  // namespace

WallNs measure_transport_floor() {
  std::array<int, 2> ends = {};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return 0;
  std::thread server(answer_requests, ends[1]);
  const WallNs until = wall_now() + kPatienceNs;
  std::array<char, kAnswerBytes> bytes = {};
  WallNs least = kLeadMaxNs;
  int rounds = 0;
  while (rounds < kRounds && wall_now() < until) {
    const WallNs pause_end = wall_now() + kPauseNs;
    while (wall_now() < pause_end) {
    }
    const WallNs before = wall_now();
    if (send(ends[0], bytes.data(), kRequestBytes, MSG_NOSIGNAL) < 0 ||
        !receive(ends[0], bytes.data(), bytes.size(), MSG_DONTWAIT, until))
      break;
    least = std::min(least, wall_now() - before);
    ++rounds;
  }
  shutdown(ends[0], SHUT_RDWR);
  server.join();
  close(ends[0]);
  close(ends[1]);
  return rounds < kRoundsAtLeast ? 0 : least;
}

}  // namespace headcrash::nbd
