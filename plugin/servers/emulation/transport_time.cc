// Measures round trips over a socket pair or two eventfds (transport_time.h).
#include "plugin/servers/emulation/transport_time.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

#include "plugin/base/descriptor.h"

namespace headcrash::emulation {
namespace {

constexpr int kBatches = 3;
constexpr std::size_t kRoundsOfBatch = 15;
/// Timeout for one answer. If an answer takes longer, the machine is too busy for a measurement.
constexpr int kPatienceMs = 200;
/// Pause before a request, long enough for the server's idle processor to enter a deep sleep state.
constexpr WallNs kPauseNs = 8 * model::kMillisecondNs;
/// Time from a request to its answer, about as long as a drive takes. The client's idle processor
/// enters a deep sleep state during this time.
constexpr WallNs kServiceNs = 8 * model::kMillisecondNs;
constexpr WallNs kSpinNs = 200 * model::kMicrosecondNs;
constexpr std::size_t kServerThreads = 4;
constexpr std::size_t kRequestBytes = 28;
constexpr std::size_t kHeaderBytes = 16;
constexpr std::size_t kPayloadBytes = 4096;

/// Reads until `bytes` bytes have arrived; returns false at the end of the stream.
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

/// Receives in the way of an NBD client: takes the available bytes, then sleeps until more bytes
/// arrive.
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
  return receive_in_turns(fd, into, kHeaderBytes) &&
         receive_in_turns(fd, into + kHeaderBytes, kPayloadBytes);
}

void serve_as_a_drive() {
  const WallNs due = wall_now() + kServiceNs;
  std::this_thread::sleep_for(std::chrono::nanoseconds(kServiceNs - kSpinNs));
  while (wall_now() < due) {
  }
}

/// Answers in the same way as nbdkit. Threads take turns waiting for a request, and the thread that
/// receives one wakes the next thread. Header and payload are sent separately, so the client may
/// wake up in between.
void answer_requests(int fd, std::mutex& turn) {
  std::array<char, kHeaderBytes + kPayloadBytes> bytes = {};
  const auto next_request = [&] {
    const std::lock_guard lock(turn);
    return receive(fd, bytes.data(), kRequestBytes);
  };
  while (next_request()) {
    serve_as_a_drive();
    if (send(fd, bytes.data(), kHeaderBytes, MSG_NOSIGNAL | MSG_MORE) < 0 ||
        send(fd, bytes.data() + kHeaderBytes, kPayloadBytes, MSG_NOSIGNAL) < 0)
      return;
  }
}

class Peer {
 public:
  virtual ~Peer() = default;
  virtual bool up() const = 0;
  /// Measures a round trip. Returns nullopt if the other end does not answer in time.
  virtual std::optional<WallNs> round() = 0;
};

/// The client's end of a socket pair, and the threads that serve the other end.
class SocketPeer final : public Peer {
 public:
  SocketPeer() {
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends_.data()) != 0) return;
    try {
      while (servers_.size() < kServerThreads)
        servers_.emplace_back(answer_requests, ends_[1], std::ref(turn_));
    } catch (const std::system_error&) {  // continues with the threads that were started
    }
  }
  ~SocketPeer() override {
    if (ends_[0] < 0) return;
    shutdown(ends_[0], SHUT_RDWR);
    for (std::thread& server : servers_) server.join();
    close(ends_[0]);
    close(ends_[1]);
  }
  SocketPeer(const SocketPeer&) = delete;
  SocketPeer& operator=(const SocketPeer&) = delete;

  bool up() const override { return !servers_.empty(); }

  std::optional<WallNs> round() override {
    std::array<char, kHeaderBytes + kPayloadBytes> bytes = {};
    const WallNs before = wall_now();
    if (send(ends_[0], bytes.data(), kRequestBytes, MSG_NOSIGNAL) < 0) return std::nullopt;
    if (!receive_answer(ends_[0], bytes.data())) return std::nullopt;
    return wall_now() - before - kServiceNs;
  }

 private:
  std::array<int, 2> ends_ = {-1, -1};
  std::mutex turn_;
  std::vector<std::thread> servers_;
};

/// Works like plugin/servers/vhost/session.h: one thread receives the kick, and another executes
/// the command.
class EventPeer final : public Peer {
 public:
  EventPeer() {
    if (!kick_.is_open() || !call_.is_open()) return;
    try {
      threads_.emplace_back([this] { take_kicks(); });
      threads_.emplace_back([this] { work(); });
    } catch (const std::system_error&) {  // without threads, this transport cannot be measured
    }
  }
  ~EventPeer() override {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    there_.notify_all();
    tell(kick_);
    for (std::thread& thread : threads_) thread.join();
  }
  EventPeer(const EventPeer&) = delete;
  EventPeer& operator=(const EventPeer&) = delete;

  bool up() const override { return threads_.size() == 2; }

  std::optional<WallNs> round() override {
    const WallNs before = wall_now();
    tell(kick_);
    if (!wait(call_)) return std::nullopt;
    return wall_now() - before - kServiceNs;
  }

 private:
  static void tell(const base::Descriptor& event) {
    const std::uint64_t one = 1;
    static_cast<void>(::write(event.get(), &one, sizeof one) == sizeof one);
  }
  static bool wait(const base::Descriptor& event, int patience_ms = kPatienceMs) {
    pollfd ready = {.fd = event.get(), .events = POLLIN, .revents = 0};
    std::uint64_t count = 0;
    return poll(&ready, 1, patience_ms) == 1 &&
           ::read(event.get(), &count, sizeof count) == sizeof count;
  }
  void take_kicks() {
    while (true) {
      const bool kicked = wait(kick_, -1);
      const std::lock_guard lock(mutex_);
      if (ending_) return;
      waiting_ = waiting_ || kicked;
      there_.notify_one();
    }
  }
  void work() {
    std::unique_lock lock(mutex_);
    while (true) {
      there_.wait(lock, [this] { return ending_ || waiting_; });
      if (ending_) return;
      waiting_ = false;
      lock.unlock();
      serve_as_a_drive();
      tell(call_);
      lock.lock();
    }
  }

  base::Descriptor kick_{::eventfd(0, EFD_CLOEXEC)}, call_{::eventfd(0, EFD_CLOEXEC)};
  std::mutex mutex_;
  bool waiting_ = false, ending_ = false;
  std::condition_variable there_;
  std::vector<std::thread> threads_;
};

/// Measures one batch of rounds and returns the median round-trip time. Returns nullopt if a
/// stop is requested or if a round fails.
std::optional<WallNs> measure_batch(Peer& peer, const std::stop_token& stopped) {
  std::array<WallNs, kRoundsOfBatch> trips = {};
  for (WallNs& trip : trips) {
    if (stopped.stop_requested()) return std::nullopt;
    std::this_thread::sleep_for(std::chrono::nanoseconds(kPauseNs));
    const auto measured = peer.round();
    if (!measured) return std::nullopt;
    trip = *measured;
  }
  const auto median = trips.begin() + kRoundsOfBatch / 2;
  std::nth_element(trips.begin(), median, trips.end());
  return *median;
}

}  // namespace

WallNs measure_transport_time(Transport transport, const std::stop_token& stopped) {
  std::unique_ptr<Peer> peer;
  if (transport == Transport::nbd) {
    peer = std::make_unique<SocketPeer>();
  } else {
    peer = std::make_unique<EventPeer>();
  }
  if (!peer->up()) return 0;
  const WallNs protocol_ns = transport == Transport::nbd ? kProtocolNs : 0;
  WallNs least = kLeadMaxNs;
  for (int batch = 0; batch < kBatches; ++batch) {
    const auto measured = measure_batch(*peer, stopped);
    if (!measured) return 0;
    least = std::min(least, *measured + protocol_ns);
  }
  return std::max<WallNs>(least, 0);
}

}  // namespace headcrash::emulation
