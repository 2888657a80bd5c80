// Measures how many random 4 KiB reads per second a client in this process achieves. Used by
// scripts/bench-vhost.
#include <libnbd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "plugin/base/random.h"
#include "plugin/servers/vhost/testing/client.h"

namespace headcrash::vhost {
namespace {

constexpr std::uint32_t kBytes = 4096;
constexpr std::uint64_t kBlocks = (64 << 20) / kBytes;  ///< the first 64 MiB

using Clock = std::chrono::steady_clock;

double requests_a_second(std::uint64_t done, Clock::time_point begun) {
  return static_cast<double>(done) / std::chrono::duration<double>(Clock::now() - begun).count();
}

double run_vhost(const std::string& socket, std::uint16_t depth, std::chrono::seconds length) {
  TestClient client{std::filesystem::path(socket)};
  client.size = 128;
  client.set_up();
  Random random(1);
  const auto begun = Clock::now();
  const auto begin = [&](std::uint16_t slot) {
    client.begin(0, slot, kIn, random.below(kBlocks) * (kBytes / model::kSectorBytes), kBytes,
                 true);
  };
  for (std::uint16_t slot = 0; slot < depth; ++slot) begin(slot);
  std::uint64_t done = 0;
  std::uint16_t seen = 0;
  while (Clock::now() - begun < length) {
    if (!client.wait_call()) return 0;
    for (const std::uint16_t used = client.used(0); seen != used; ++seen, ++done)
      begin(client.used_slot(0, seen));
  }
  return requests_a_second(done, begun);
}

double run_nbd(const std::string& socket, std::size_t depth, std::chrono::seconds length) {
  nbd_handle* nbd = nbd_create();
  if (nbd == nullptr || nbd_connect_unix(nbd, socket.c_str()) != 0) {
    std::fprintf(stderr, "%s\n", nbd_get_error());
    return 0;
  }
  Random random(1);
  std::vector<std::vector<char>> buffers(depth, std::vector<char>(kBytes));
  std::vector<std::int64_t> cookies(depth);
  const auto begin = [&](std::size_t slot) {
    cookies[slot] = nbd_aio_pread(nbd, buffers[slot].data(), kBytes, random.below(kBlocks) * kBytes,
                                  nbd_completion_callback{}, 0);
  };
  const auto begun = Clock::now();
  for (std::size_t slot = 0; slot < depth; ++slot) begin(slot);
  std::uint64_t done = 0;
  while (Clock::now() - begun < length) {
    if (nbd_poll(nbd, 2000) < 0) return 0;
    for (std::size_t slot = 0; slot < depth; ++slot) {
      if (nbd_aio_command_completed(nbd, static_cast<std::uint64_t>(cookies[slot])) != 1) continue;
      ++done;
      begin(slot);
    }
  }
  const double rate = requests_a_second(done, begun);
  nbd_close(nbd);
  return rate;
}

}  // namespace
}  // namespace headcrash::vhost

int main(int count, char** words) {
  using namespace headcrash::vhost;
  const std::vector<std::string> all(words, words + count);
  const int depth = count == 5 ? std::atoi(all[3].c_str()) : 0;
  const std::chrono::seconds length(count == 5 ? std::atoi(all[4].c_str()) : 0);
  if (depth < 1 || depth > 40 || length.count() < 1) {
    std::fprintf(stderr, "usage: headcrash_vhost_bench vhost|nbd SOCKET DEPTH SECONDS\n");
    return 2;
  }
  const double rate = all[1] == "vhost"
                          ? run_vhost(all[2], static_cast<std::uint16_t>(depth), length)
                          : run_nbd(all[2], static_cast<std::size_t>(depth), length);
  std::printf("%.0f\n", rate);
  return rate > 0 ? 0 : 1;
}
