// Ping-pong over a socket pair (transport_floor.h).
#include "plugin/nbd/transport_floor.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <system_error>
#include <thread>
#include <vector>

namespace headcrash::nbd {
namespace {

constexpr std::size_t kRounds = 40;
constexpr std::size_t kRoundsAtLeast = 10;  ///< fewer say nothing: the machine is too busy, and 0 is safe
constexpr int kPatienceMs = 200;
constexpr WallNs kPatienceNs = kPatienceMs * model::kMillisecondNs;
constexpr WallNs kPauseNs =
    2 * model::kMillisecondNs;  ///< both sides fall asleep, and their processors with them
constexpr std::size_t kRequestBytes = 28;
constexpr std::size_t kHeaderBytes = 16;
constexpr std::size_t kAnswerBytes = kHeaderBytes + 4096;

/// Reads all of `bytes`; false at the end of the stream.
bool receive(int fd, char* into, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t n = recv(fd, into, bytes, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    into += n;
    bytes -= static_cast<std::size_t>(n);
  }
  return true;
}

/// As an NBD client does: asleep until something comes, then the header, then the payload.
bool receive_answer(int fd, char* into) {
  pollfd ready = {.fd = fd, .events = POLLIN, .revents = 0};
  if (poll(&ready, 1, kPatienceMs) != 1) return false;
  return receive(fd, into, kHeaderBytes) && receive(fd, into + kHeaderBytes, kAnswerBytes - kHeaderBytes);
}

void answer_requests(int fd) {
  std::array<char, kAnswerBytes> bytes = {};
  while (receive(fd, bytes.data(), kRequestBytes))
    if (send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL) < 0) return;
}

}  // namespace

WallNs measure_transport_floor() {
  std::array<int, 2> ends = {};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return 0;
  std::thread server;
  try {
    server = std::thread(answer_requests, ends[1]);
  } catch (const std::system_error&) {  // no more threads: nothing was measured, and 0 is safe
    close(ends[0]);
    close(ends[1]);
    return 0;
  }
  const WallNs until = wall_now() + kPatienceNs;
  std::array<char, kAnswerBytes> bytes = {};
  std::vector<WallNs> trips;
  while (trips.size() < kRounds && wall_now() < until) {
    std::this_thread::sleep_for(std::chrono::nanoseconds(kPauseNs));
    const WallNs before = wall_now();
    if (send(ends[0], bytes.data(), kRequestBytes, MSG_NOSIGNAL) < 0 ||
        !receive_answer(ends[0], bytes.data()))
      break;
    trips.push_back(wall_now() - before);
  }
  shutdown(ends[0], SHUT_RDWR);
  server.join();
  close(ends[0]);
  close(ends[1]);
  if (trips.size() < kRoundsAtLeast) return 0;
  const auto quartile = trips.begin() + static_cast<std::ptrdiff_t>(trips.size() / 4);
  std::nth_element(trips.begin(), quartile, trips.end());
  return std::min(*quartile, kLeadMaxNs);
}

}  // namespace headcrash::nbd
