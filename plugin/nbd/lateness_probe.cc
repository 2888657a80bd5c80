// How late does a client see its answers? Reads 4 KiB at random places, one request at a time, from a server
// with clock=real, and compares what passed on the wall with the modelled response time of that very request,
// which it asks for over the control socket after each one. For scripts/bench-plugin.
//
//   headcrash_lateness_probe NBD_SOCKET CONTROL_SOCKET REQUESTS
#include <libnbd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

namespace {

/// One command, one answer, on a connection that stays.
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

  nlohmann::json ask(std::string line) const {
    line += '\n';
    if (send(fd_, line.data(), line.size(), MSG_NOSIGNAL) < 0) return {};
    std::string answer;
    std::array<char, 65536> bytes;
    while (answer.empty() || answer.back() != '\n') {
      const ssize_t n = recv(fd_, bytes.data(), bytes.size(), 0);
      if (n <= 0) return {};
      answer.append(bytes.data(), static_cast<std::size_t>(n));
    }
    return nlohmann::json::parse(answer, nullptr, false);
  }

 private:
  int fd_;
  bool connected_ = false;
};

double quantile_us(std::vector<double>& values, double share) {
  std::sort(values.begin(), values.end());
  return values[std::min(values.size() - 1,
                         static_cast<std::size_t>(share * static_cast<double>(values.size())))] /
         1000;
}

}  // namespace

int main(int argc, char** argv) {
  const int requests = argc == 4 ? std::atoi(argv[3]) : 0;
  if (requests < 1) {
    std::fprintf(stderr, "usage: headcrash_lateness_probe NBD_SOCKET CONTROL_SOCKET REQUESTS\n");
    return 2;
  }
  nbd_handle* nbd = nbd_create();
  const Control control(argv[2]);
  if (nbd == nullptr || nbd_connect_unix(nbd, argv[1]) != 0 || !control.connected()) {
    std::fprintf(stderr, "headcrash_lateness_probe: cannot connect; is the server up?\n");
    return 2;
  }
  std::mt19937_64 random(1);
  const auto blocks = static_cast<std::uint64_t>(nbd_get_size(nbd)) / 4096;
  std::vector<double> targets;
  std::vector<double> late;
  std::array<char, 4096> block;
  for (int i = 0; i < requests; ++i) {
    control.ask(R"({"stats":"take"})");
    const auto before = std::chrono::steady_clock::now();
    if (nbd_pread(nbd, block.data(), block.size(), random() % blocks * 4096, 0) != 0) return 2;
    const auto passed = std::chrono::steady_clock::now() - before;
    const nlohmann::json answer = control.ask(R"({"stats":"take"})");
    if (!answer.is_object()) return 2;
    const auto target = answer["devices"][0]["latency"]["target"]["max_ns"].get<double>();
    targets.push_back(target);
    late.push_back(static_cast<double>(passed.count()) - target);
  }
  const double least = *std::min_element(late.begin(), late.end());
  const double median = quantile_us(late, 0.5);
  const double p99 = quantile_us(late, 0.99);
  std::printf("%.0f %.1f %.1f %.1f\n", quantile_us(targets, 0.5), least / 1000, median, p99);
  nbd_close(nbd);
  return 0;
}
