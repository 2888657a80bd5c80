// Measures how many distinct crash states per second are enumerated, digests included:
//
//   headcrash_states_bench FOLDER [WRITES [STATES]]        default: 2000 writes, 200000 states
//
// The benchmark makes a recording like that of a file system on a 64 MiB disk: a circular journal,
// metadata written in place, data written to new locations, a flush after every 40 writes, a mark
// after every flush. It explores the recording with each strategy alone and with all strategies
// together, and reads some of the images as a checker on the host would. It uses one core and
// prints both wall time and processor time, which is less affected by a busy machine.
#include <fmt/core.h>

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>

#include "plugin/base/random.h"
#include "plugin/record/recording.h"
#include "plugin/states/state_enumerator.h"

namespace {

using namespace headcrash;
namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kSectors = 64 << 11;

double processor_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

template <typename T>
T must(Result<T> result) {
  if (result) return std::move(*result);
  fmt::print(stderr, "{}\n", result.error().message());
  std::exit(2);
}

void record_run(const fs::path& path, std::uint64_t writes) {
  auto writer = must(record::RecordingWriter::create(path, {1, {{"hd0", "bench", kSectors, 8}}}));
  Random random(1);
  model::RequestId id = 0;
  model::TimeNs now = 0;
  std::uint64_t journal = 0;
  std::uint64_t fresh = 40000;
  std::vector<std::byte> data(128 << 10);
  for (std::uint64_t i = 0; i < writes; ++i) {
    model::Request request{.id = ++id, .op = model::Op::write, .lba = 0, .sectors = 8};
    const std::uint64_t dice = random.below(4);
    if (dice < 2) {
      request.lba = 20000 + journal;
      journal = (journal + 8) % 8192;
    } else if (dice == 2) {
      request.lba = random.below(200) * 8;
    } else {
      request.sectors = static_cast<std::uint32_t>(8 << random.below(5));
      request.lba = fresh;
      fresh = fresh + 256 < kSectors ? fresh + request.sectors : 40000;
    }
    for (std::uint64_t at = 0; at < std::uint64_t{request.sectors} * model::kSectorBytes; ++at)
      data[at] = static_cast<std::byte>(random.next());
    request.data = std::span(data).first(std::size_t{request.sectors} * model::kSectorBytes);
    writer->submitted(0, now += 1000, request);
    writer->acknowledged(0, {.id = request.id, .completed_at = now += 1000});
    writer->media_written(0, now,
                          {request.id, request.lba, request.sectors,
                           model::MediaWrite::Outcome::written, request.data});
    if (i % 40 != 39) continue;
    writer->submitted(0, now += 1000, {.id = ++id, .op = model::Op::flush});
    writer->acknowledged(0, {.id = id, .completed_at = now += 1000});
    writer->marked(now, fmt::format("persisted {}", i));
  }
}

void explore(const std::shared_ptr<const states::RunHistory>& run,
             std::vector<states::Strategy> strategies, std::uint64_t budget) {
  states::ExploreOptions options;
  options.budget = budget;
  options.reorder_per_cut = 1 << 20;
  std::string what;
  for (const auto strategy : strategies)
    what += (what.empty() ? "" : ",") + std::string(states::name(strategy));
  options.strategies = std::move(strategies);
  const double processor = processor_seconds();
  const auto start = Clock::now();
  auto enumerator = must(states::StateEnumerator::create(run, options));
  std::uint64_t distinct = 0;
  while (must(enumerator.next())) ++distinct;
  const double seconds = seconds_since(start);
  std::uint64_t generated = 0;
  for (const states::Coverage& one : enumerator.coverage()) generated += one.generated;
  const double busy = processor_seconds() - processor;
  fmt::print(
      "{:56} {:7} generated, {:7} distinct, {:6.3f} s: {:7.0f} states/s, {:7.0f} by processor time\n",
      what, generated, distinct, seconds, static_cast<double>(distinct) / seconds,
      static_cast<double>(distinct) / busy);
}

void read_images(const std::shared_ptr<const states::RunHistory>& run) {
  constexpr int kImages = 50;
  std::vector<std::byte> image(kSectors * model::kSectorBytes);
  double make_s = 0, digest_s = 0, read_s = 0;
  std::uint64_t sectors_written = 0;
  for (int i = 0; i < kImages; ++i) {
    const states::CrashState state{.event = run->events() / 2 + static_cast<std::uint64_t>(i)};
    auto start = Clock::now();
    const auto found = must(run->image(state, 0));
    make_s += seconds_since(start);
    start = Clock::now();
    must(found.digest());
    digest_s += seconds_since(start);
    start = Clock::now();
    found.visit_written([&](std::uint64_t lba, std::uint64_t sectors) {
      sectors_written += sectors;
      if (!found.read(lba, std::span(image).subspan(lba * model::kSectorBytes,
                                                    sectors * model::kSectorBytes)))
        std::exit(2);
    });
    read_s += seconds_since(start);
  }
  fmt::print(
      "image of a state: {:.1f} us to make, {:.2f} ms to digest, {:.2f} ms to copy its {:.1f} MiB\n",
      make_s / kImages * 1e6, digest_s / kImages * 1e3, read_s / kImages * 1e3,
      static_cast<double>(sectors_written) / kImages / 2048);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: headcrash_states_bench FOLDER [WRITES [STATES]]\n");
    return 2;
  }
  const std::uint64_t writes = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 2000;
  const std::uint64_t budget = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 200'000;
  const fs::path path = fs::path(argv[1]) / "states_bench.hcrec";
  fs::remove(path);
  record_run(path, writes);
  const auto start = Clock::now();
  const auto run = must(states::RunHistory::load(path));
  fmt::print("{} events, {:.1f} MB, loaded in {:.3f} s\n", run->events(),
             static_cast<double>(fs::file_size(path)) / 1e6, seconds_since(start));
  using enum states::Strategy;
  for (const auto strategy : {prefix, lose_all, lying_flush, reorder, torn, physical})
    explore(run, {strategy}, budget);
  explore(run, {lose_all, prefix, reorder, torn, lying_flush, physical}, budget);
  read_images(run);
  fs::remove(path);
  return 0;
}
