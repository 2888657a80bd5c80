// Compares the speed of a log, as observer and store together, with that of plain pwrite(2) calls
// to a file. Both write the same bytes, in sequential writes of 128 KiB, alternating in one run:
//
//   log_bench FOLDER [MiB [rounds]]        default: 2048 MiB, 3 rounds
//
// Prints MB/s of each round, by wall time and by processor time (less affected by a busy machine),
// and the ratios of the medians. Log and file are written through the page cache, like `nbdkit
// file`, and the benchmark does not wait for the disk at the end. With less data than the host's
// dirty limit, it measures copying; with more data, it measures the disk.
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "plugin/record/log_store.h"

namespace {

using namespace headcrash;
constexpr std::size_t kRequestBytes = 128 << 10;
constexpr std::uint32_t kRequestSectors = kRequestBytes / model::kSectorBytes;

/// Seconds of wall time, and seconds that this process spent in user and kernel mode.
struct Seconds {
  double wall, processor;
};

double processor_seconds() {
  struct rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

Seconds seconds_of(auto&& work) {
  const double processor = processor_seconds();
  const auto start = std::chrono::steady_clock::now();
  work();
  return {std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
          processor_seconds() - processor};
}

/// Returns pseudo-random bytes, so that the data does not speed up the checksum or the copy.
std::vector<std::byte> make_data() {
  std::vector<std::byte> data(64 * kRequestBytes);
  std::uint64_t state = 1;
  for (auto& byte : data) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    byte = static_cast<std::byte>(state >> 56);
  }
  return data;
}

void write_plainly(const std::filesystem::path& path, std::span<const std::byte> data,
                   std::uint64_t requests) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  for (std::uint64_t i = 0; i < requests; ++i) {
    const auto piece = data.subspan(i % 64 * kRequestBytes, kRequestBytes);
    if (pwrite(fd, piece.data(), piece.size(), static_cast<off_t>(i * kRequestBytes)) !=
        static_cast<ssize_t>(piece.size()))
      std::abort();
  }
  close(fd);
}

void write_log(const std::filesystem::path& path, std::span<const std::byte> data,
               std::uint64_t requests) {
  const record::RecordingHeader header{1, {{"hd0", "bench", requests * kRequestSectors, 1}}};
  auto log = record::LogStore::open(path, header);
  if (!log) {
    fmt::print(stderr, "{}\n", log.error().message());
    std::exit(2);
  }
  model::SectorStore& store = *(*log)->store(0);
  for (std::uint64_t i = 0; i < requests; ++i) {
    const auto piece = data.subspan(i % 64 * kRequestBytes, kRequestBytes);
    const auto at = static_cast<model::TimeNs>(i) * 1000;
    model::Request request{.id = i + 1,
                           .op = model::Op::write,
                           .lba = i * kRequestSectors,
                           .sectors = kRequestSectors};
    request.data = piece;
    (*log)->submitted(0, at, request);
    if (!store.write(request.lba, piece)) std::abort();
    (*log)->media_written(0, at, {request.id, request.lba, kRequestSectors, {}, piece});
    (*log)->acknowledged(0, {.id = request.id, .submitted_at = at, .completed_at = at});
  }
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: log_bench FOLDER [MiB [rounds]]\n");
    return 2;
  }
  const std::uint64_t mib = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 2048;
  const int rounds = argc > 3 ? std::atoi(argv[3]) : 3;
  const std::uint64_t requests = std::max<std::uint64_t>(1, (mib << 20) / kRequestBytes);
  const auto data = make_data();
  const std::filesystem::path plain = std::filesystem::path(argv[1]) / "log_bench.plain";
  const std::filesystem::path log = std::filesystem::path(argv[1]) / "log_bench.hcrec";
  std::vector<double> plain_wall, plain_processor, log_wall, log_processor;
  const double mb = static_cast<double>(requests * kRequestBytes) / 1e6;
  for (int round = 0; round < rounds; ++round) {
    const Seconds plainly = seconds_of([&] { write_plainly(plain, data, requests); });
    std::filesystem::remove(plain);
    const Seconds logged = seconds_of([&] { write_log(log, data, requests); });
    std::filesystem::remove(log);
    fmt::print(
        "round {}: pwrite {:.0f} MB/s, log {:.0f} MB/s; MB per processor second {:.0f} and {:.0f}\n",
        round + 1, mb / plainly.wall, mb / logged.wall, mb / plainly.processor,
        mb / logged.processor);
    plain_wall.push_back(plainly.wall);
    plain_processor.push_back(plainly.processor);
    log_wall.push_back(logged.wall);
    log_processor.push_back(logged.processor);
  }
  fmt::print(
      "ratio of medians, log to pwrite: {:.2f}; by processor time {:.2f} ({} MiB per round)\n",
      median(plain_wall) / median(log_wall), median(plain_processor) / median(log_processor), mib);
}
