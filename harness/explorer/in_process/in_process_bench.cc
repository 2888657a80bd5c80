// Measures how many crash states per second are checked in this process, and the time that each
// step takes:
//
//   headcrash_in_process_bench FOLDER [FILES [STATES [SYSTEM [TYPE]]]]
//   default: 300 files, 20000 states, all systems, type ufs
//
// A file system of 64 MiB (ufs has 8192 inodes) holds FILES small files in ten directories. Under
// each system of the type, about fifty operations on these files are recorded, and their crash
// states are checked in full: fsck, repair, second fsck, tree, oracle. The program uses one core.
// It reports wall time and processor time; the latter depends less on other load.
#include <fmt/core.h>

#include <cstdlib>
#include <ctime>

#include "fs-adapters/registry.h"
#include "harness/explorer/in_process/exploration.h"

namespace {

using namespace headcrash;
using namespace headcrash::in_process;
using workload::Operation;
using Kind = Operation::Kind;

constexpr std::uint64_t kDiskBytes = 64 << 20;
constexpr int kDirectories = 10;
constexpr int kOperations = 48;

template <typename T>
T must(Result<T> result) {
  if (result) return std::move(*result);
  fmt::print(stderr, "{}\n", result.error().message());
  std::exit(2);
}

std::string path_of(int file) {
  return fmt::format("d{}/f{}", file % kDirectories, file);
}

class Workload {
 public:
  explicit Workload(int files) : files_(files) {
    for (int i = 0; i < kDirectories; ++i)
      add({.kind = Kind::mkdir, .path = fmt::format("d{}", i)});
    for (int i = 0; i < files; ++i) make(i);
    add({.kind = Kind::sync});
    setup_ = operations.size() - 1;
    for (int i = 0; i < kOperations; ++i) step(i);
    add({.kind = Kind::sync});
  }

  std::vector<Operation> operations;
  std::size_t setup() const { return setup_; }

 private:
  void add(Operation operation) { operations.push_back(std::move(operation)); }
  void make(int file) {
    add({.kind = Kind::create, .path = path_of(file)});
    write(path_of(file), file);
  }
  void write(const std::string& path, int file) {
    add({.kind = Kind::write,
         .path = path,
         .length = 1024U + 512U * static_cast<std::uint32_t>(file % 5),
         .file = static_cast<std::uint32_t>(file + 1),
         .version = ++version_});
  }
  void step(int i) {
    const int fresh = files_ + i;
    const int old = i * 5;
    if (i % 4 == 0) make(fresh);
    if (i % 4 == 1) add({.kind = Kind::unlink, .path = path_of(old)});
    if (i % 4 == 2)
      add({.kind = Kind::rename, .path = path_of(old), .target = fmt::format("d{}/g{}", i % 7, i)});
    if (i % 4 == 3) write(path_of(old), old);
    if (i % 12 == 8) add({.kind = Kind::fsync, .path = path_of(fresh)});
  }

  int files_;
  std::size_t setup_ = 0;
  std::uint32_t version_ = 0;
};

void measure(DiskExplorer& explorer, const adapters::SystemUnderTest& system,
             const Workload& workload, std::uint64_t states, const std::filesystem::path& folder) {
  const ExplorationOptions options{.budget = states,
                                   .reorder_per_cut = 256,
                                   .from_operation = workload.setup(),
                                   .failures_kept = 1};
  const std::clock_t before = std::clock();
  const auto explored =
      explorer.explore(system, workload.operations, options, folder / "in_process_bench.hcrec");
  const double busy = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
  if (!explored) {
    fmt::print("{:20} {}\n", system.name(), explored.error().message());
    return;
  }
  if (explored->run.failure) {
    fmt::print("{:20} {}\n", system.name(), *explored->run.failure);
    return;
  }
  const auto checked = static_cast<double>(explored->checked);
  fmt::print(
      "{:20} {:6} checked, {:6} forbidden, {:6} clean, {:6.0f} states/s, "
      "{:6.0f} states/s of processor time;",
      system.name(), explored->checked, explored->forbidden, explored->clean,
      checked * 1e3 / explored->wall_ms, checked / busy);
  fmt::print(" recording {:.0f} ms, loading {:.0f} ms; us per state:", explored->record_ms,
             explored->load_ms);
  for (std::size_t i = 0; i < kStepKinds; ++i)
    fmt::print(" {} {:.0f}", name(static_cast<StepKind>(i)),
               explored->step_ms.at(i) * 1e3 / checked);
  fmt::print("\n");
  for (const ExploredState& failure : explored->failures)
    fmt::print("  {} {}: {}\n", failure.state, oracle::name(failure.outcome.judgement.verdict),
               failure.outcome.judgement.summary);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr,
               "usage: headcrash_in_process_bench FOLDER [FILES [STATES [SYSTEM [TYPE]]]]\n");
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  const int files = argc > 2 ? std::atoi(argv[2]) : 300;
  const std::uint64_t states = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 20'000;
  const auto* const type = must(adapters::find_file_system_type(argc > 5 ? argv[5] : "ufs"));
  const auto formatted =
      must(format_disk(*type, {.bytes = kDiskBytes}, folder / "in_process_bench_formatted.hcrec"));
  DiskExplorer explorer(formatted);
  const Workload workload(files);
  for (const auto& system : type->systems())
    if (argc < 5 || system->name() == argv[4]) measure(explorer, *system, workload, states, folder);
  return 0;
}
