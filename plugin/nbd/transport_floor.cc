// Ping-pong over a socket pair (transport_floor.h).
#include "plugin/nbd/transport_floor.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <mutex>
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
constexpr std::size_t kServerThreads = 4;
constexpr std::size_t kRequestBytes = 28;
constexpr std::size_t kHeaderBytes = 16;
constexpr std::size_t kPayloadBytes = 4096;

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

/// As an NBD client does: takes what is there, and sleeps until more comes.
bool receive_in_turns(int fd, char* into, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t n = recv(fd, into, bytes, MSG_DONTWAIT);
    if (n > 0) {
      into += n;
      bytes -= static_cast<std::size_t>(n);
      continue;
    }
    if (n == 0 || (errno != EAGAIN && errno != EINTR)) return false;
    pollfd ready = {.fd = fd, .events = POLLIN, .revents = 0};
    if (poll(&ready, 1, kPatienceMs) != 1) return false;
  }
  return true;
}

bool receive_answer(int fd, char* into) {
  return receive_in_turns(fd, into, kHeaderBytes) && receive_in_turns(fd, into + kHeaderBytes, kPayloadBytes);
}

/// As nbdkit does: its threads take turns at waiting for a request, and who has got one wakes up the next. A
/// call for the header and one for the payload, between which a client may wake up.
void answer_requests(int fd, std::mutex& turn) {
  std::array<char, kHeaderBytes + kPayloadBytes> bytes = {};
  const auto next_request = [&] {
    const std::lock_guard lock(turn);
    return receive(fd, bytes.data(), kRequestBytes);
  };
  while (next_request())
    if (send(fd, bytes.data(), kHeaderBytes, MSG_NOSIGNAL | MSG_MORE) < 0 ||
        send(fd, bytes.data() + kHeaderBytes, kPayloadBytes, MSG_NOSIGNAL) < 0)
      return;
}

}  // namespace

WallNs measure_transport_floor() {
  std::array<int, 2> ends = {};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return 0;
  std::mutex turn;
  std::vector<std::thread> servers;
  const auto end = [&] {
    shutdown(ends[0], SHUT_RDWR);
    for (std::thread& server : servers) server.join();
    close(ends[0]);
    close(ends[1]);
  };
  try {
    while (servers.size() < kServerThreads) servers.emplace_back(answer_requests, ends[1], std::ref(turn));
  } catch (const std::system_error&) {  // no more threads: nothing was measured, and 0 is safe
    end();
    return 0;
  }
  const WallNs until = wall_now() + kPatienceNs;
  std::array<char, kHeaderBytes + kPayloadBytes> bytes = {};
  std::vector<WallNs> trips;
  while (trips.size() < kRounds && wall_now() < until) {
    std::this_thread::sleep_for(std::chrono::nanoseconds(kPauseNs));
    const WallNs before = wall_now();
    if (send(ends[0], bytes.data(), kRequestBytes, MSG_NOSIGNAL) < 0 ||
        !receive_answer(ends[0], bytes.data()))
      break;
    trips.push_back(wall_now() - before);
  }
  end();
  if (trips.size() < kRoundsAtLeast) return 0;
  const auto quartile = trips.begin() + static_cast<std::ptrdiff_t>(trips.size() / 4);
  std::nth_element(trips.begin(), quartile, trips.end());
  return std::min(*quartile, kLeadMaxNs);
}

}  // namespace headcrash::nbd
