// Measures how late a client receives its answers, for scripts/bench-plugin. There are three
// measurements. Each reads 4 KiB blocks at random places and prints one line of numbers in
// microseconds:
//
//   headcrash_lateness_probe depth1 sleep|poll NBD_SOCKET CONTROL_SOCKET REQUESTS
//       One request at a time to a server with clock=real: the elapsed time minus the modelled
//       response time of that request, which is queried through the control socket. A sleeping
//       client's lateness includes the client's wake-up time; a polling client's does not.
//       -> median of targets, least lateness, p50, p99; then p50 and p99 as measured by the server
//   headcrash_lateness_probe echo sleep|poll TARGET_US REQUESTS
//       The baseline: the same client with the simplest possible server, a thread that reads a
//       request from a Unix socket, sleeps until 150 us before the target instant, spins for the
//       rest and answers. No server on this machine can be less late.
//       -> target, least, p50, p99
//   headcrash_lateness_probe depth N NBD_SOCKET CONTROL_SOCKET REQUESTS
//       N requests in flight: lateness as measured by the server.
//       -> median of targets, 0, p50, p99
#include <fcntl.h>
#include <libnbd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr nbd_completion_callback kNoCompletion = {};

using std::chrono::nanoseconds;
using std::chrono::steady_clock;

constexpr std::size_t kBlock = 4096;
constexpr std::size_t kRequestBytes = 28;         ///< size of NBD's read request
constexpr std::size_t kReplyBytes = 16 + kBlock;  ///< size of a simple reply: header and block
enum class Waiting : std::uint8_t { sleep, poll };

/// A persistent control connection, for one command and its answer at a time.
class Control {
 public:
  explicit Control(const std::string& path) : fd_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    connected_ = connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  ~Control() { close(fd_); }
  Control(const Control&) = delete;
  Control& operator=(const Control&) = delete;
  bool connected() const { return connected_; }

  /// Returns the latencies of the first device since the last call; null if the server has exited.
  nlohmann::json take() const {
    const std::string line = "{\"stats\":\"take\"}\n";
    if (send(fd_, line.data(), line.size(), MSG_NOSIGNAL) < 0) return {};
    std::string answer;
    std::array<char, 65536> bytes;
    while (answer.empty() || answer.back() != '\n') {
      const ssize_t n = recv(fd_, bytes.data(), bytes.size(), 0);
      if (n <= 0) return {};
      answer.append(bytes.data(), static_cast<std::size_t>(n));
    }
    const nlohmann::json parsed = nlohmann::json::parse(answer, nullptr, false);
    return parsed.is_object() ? parsed["devices"][0]["latency"] : nlohmann::json();
  }

 private:
  int fd_;
  bool connected_ = false;
};

double quantile_us(std::vector<double>& values, double share) {
  std::sort(values.begin(), values.end());
  const auto rank = static_cast<std::size_t>(share * static_cast<double>(values.size()));
  return values[std::min(values.size() - 1, rank)] / 1000;
}

void print(std::vector<double>& targets, std::vector<double>& late) {
  const double least = *std::min_element(late.begin(), late.end()) / 1000;
  const double median = quantile_us(late, 0.5);
  const double p99 = quantile_us(late, 0.99);
  std::printf("%.0f %.1f %.1f %.1f", quantile_us(targets, 0.5), least, median, p99);
}

int complain(const char* what) {
  std::fprintf(stderr, "headcrash_lateness_probe: %s\n", what);
  return 2;
}

bool read_block(nbd_handle* nbd, Waiting waiting, std::uint64_t offset) {
  std::array<char, kBlock> block;
  if (waiting == Waiting::sleep) return nbd_pread(nbd, block.data(), block.size(), offset, 0) == 0;
  const std::int64_t cookie =
      nbd_aio_pread(nbd, block.data(), block.size(), offset, kNoCompletion, 0);
  int done = 0;
  while (cookie >= 0 &&
         (done = nbd_aio_command_completed(nbd, static_cast<std::uint64_t>(cookie))) == 0)
    if (nbd_poll(nbd, 0) < 0) return false;
  return done == 1;
}

int measure_depth1(nbd_handle* nbd, const Control& control, Waiting waiting, int requests) {
  std::mt19937_64 random(1);
  const auto blocks = static_cast<std::uint64_t>(nbd_get_size(nbd)) / kBlock;
  std::vector<double> targets;
  std::vector<double> late;
  std::vector<double> late_in_server;
  control.take();
  for (int i = 0; i < requests; ++i) {
    const std::uint64_t offset = random() % blocks * kBlock;
    const auto before = steady_clock::now();
    if (!read_block(nbd, waiting, offset)) return complain(nbd_get_error());
    const auto passed = steady_clock::now() - before;
    const nlohmann::json latency = control.take();
    if (!latency.is_object()) return complain("the server stopped answering");
    const auto target = latency["target"]["max_ns"].get<double>();
    targets.push_back(target);
    late.push_back(static_cast<double>(nanoseconds(passed).count()) - target);
    late_in_server.push_back(latency["lateness"]["max_ns"].get<double>());
  }
  print(targets, late);
  const double median = quantile_us(late_in_server, 0.5);
  std::printf(" %.1f %.1f\n", median, quantile_us(late_in_server, 0.99));
  return 0;
}

int measure_depth(nbd_handle* nbd, const Control& control, int depth, int requests) {
  std::mt19937_64 random(1);
  const auto blocks = static_cast<std::uint64_t>(nbd_get_size(nbd)) / kBlock;
  std::vector<std::array<char, kBlock>> buffers(static_cast<std::size_t>(depth));
  std::vector<std::int64_t> cookies(static_cast<std::size_t>(depth), 0);
  control.take();
  int left = requests;
  int inside = 0;
  while (left > 0 || inside > 0) {
    for (std::size_t slot = 0; slot < cookies.size(); ++slot) {
      if (cookies[slot] != 0) {
        const int done = nbd_aio_command_completed(nbd, static_cast<std::uint64_t>(cookies[slot]));
        if (done < 0) return complain(nbd_get_error());
        if (done == 0) continue;
        cookies[slot] = 0;
        --inside;
      }
      if (left == 0) continue;
      cookies[slot] = nbd_aio_pread(nbd, buffers[slot].data(), kBlock, random() % blocks * kBlock,
                                    kNoCompletion, 0);
      if (cookies[slot] < 0) return complain(nbd_get_error());
      --left;
      ++inside;
    }
    if (inside > 0 && nbd_poll(nbd, -1) < 0) return complain(nbd_get_error());
  }
  const nlohmann::json latency = control.take();
  if (!latency.is_object()) return complain("the server stopped answering");
  std::printf("%.0f 0 %.1f %.1f\n", latency["target"]["p50_ns"].get<double>() / 1000,
              latency["lateness"]["p50_ns"].get<double>() / 1000,
              latency["lateness"]["p99_ns"].get<double>() / 1000);
  return 0;
}

/// Reads until `bytes` is full, sleeping or polling; returns false at the end of the stream.
bool receive(int fd, char* into, std::size_t bytes, Waiting waiting) {
  while (bytes > 0) {
    const ssize_t n = recv(fd, into, bytes, waiting == Waiting::poll ? MSG_DONTWAIT : 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (n <= 0) return false;
    into += n;
    bytes -= static_cast<std::size_t>(n);
  }
  return true;
}

void echo_late(int fd, nanoseconds target) {
  constexpr nanoseconds kSpin{150'000};
  prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
  std::array<char, kReplyBytes> bytes = {};
  while (receive(fd, bytes.data(), kRequestBytes, Waiting::sleep)) {
    const auto due = steady_clock::now() + target;
    std::this_thread::sleep_until(due - kSpin);
    while (steady_clock::now() < due) {
    }
    if (send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL) < 0) return;
  }
}

int measure_echo(Waiting waiting, nanoseconds target, int requests) {
  std::array<int, 2> ends = {};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return complain("cannot create a socket pair");
  std::thread server(echo_late, ends[1], target);
  std::vector<double> targets(static_cast<std::size_t>(requests),
                              static_cast<double>(target.count()));
  std::vector<double> late;
  std::array<char, kReplyBytes> bytes = {};
  for (int i = 0; i < requests; ++i) {
    const auto before = steady_clock::now();
    if (send(ends[0], bytes.data(), kRequestBytes, MSG_NOSIGNAL) < 0 ||
        !receive(ends[0], bytes.data(), bytes.size(), waiting))
      break;
    late.push_back(static_cast<double>(nanoseconds(steady_clock::now() - before - target).count()));
  }
  close(ends[0]);
  server.join();
  close(ends[1]);
  if (late.empty()) return complain("the echo server does not answer");
  print(targets, late);
  std::printf("\n");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string kind = argc > 1 ? argv[1] : "";
  const std::string how = argc > 2 ? argv[2] : "";
  const int requests = argc > 3 ? std::atoi(argv[argc - 1]) : 0;
  const Waiting waiting = how == "poll" ? Waiting::poll : Waiting::sleep;
  if (kind == "echo" && argc == 5 && requests > 0)
    return measure_echo(waiting, std::chrono::microseconds(std::atoi(argv[3])), requests);
  const int depth = kind == "depth" ? std::atoi(how.c_str()) : 1;
  if (argc != 6 || requests < 1 || depth < 1 || (kind != "depth1" && kind != "depth"))
    return complain(
        "usage: depth1 sleep|poll NBD CONTROL REQUESTS, depth N NBD CONTROL REQUESTS or echo sleep|poll US "
        "REQUESTS");
  nbd_handle* nbd = nbd_create();
  const Control control(argv[4]);
  if (nbd == nullptr || nbd_connect_unix(nbd, argv[3]) != 0 || !control.connected())
    return complain("cannot connect; start the server first");
  const int result = kind == "depth" ? measure_depth(nbd, control, depth, requests)
                                     : measure_depth1(nbd, control, waiting, requests);
  nbd_close(nbd);
  return result;
}
