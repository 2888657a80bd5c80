// The large-file benchmark of Sprite LFS.
//
// Source: Rosenblum 1992, section 6.2.1.2 and figure 6-4: a file of 100 megabytes is written
// sequentially, read sequentially, written in random order in blocks of 8 kilobytes, read in random
// order in such blocks, and read sequentially again. In the source, caches and delayed writes must
// not hide disk accesses. Therefore, caches are dropped before each phase, and a phase that writes
// ends with fsync. Our choices: a megabyte is 2^20 bytes, the sequential phases also use 8 KB, and
// the random order visits each block once.
#include <fmt/format.h>

#include <numeric>

#include "harness/workload/timed/file_work.h"
#include "harness/workload/timed/random_source.h"
#include "harness/workload/timed/workloads.h"

namespace headcrash::timed {
namespace {

enum class Order : std::uint8_t { sequential, random };
enum class Direction : std::uint8_t { write, read };

struct Pass {
  Order order = Order::sequential;
  Direction direction = Direction::write;
  std::uint32_t rewritten = 0;  ///< current version of the contents
  bool create = false;
};

PhaseResult go_through(User& user, const Pass& pass) {
  const std::uint64_t unit = argument(user.arguments, "unit-bytes");
  const std::uint64_t bytes = argument(user.arguments, "file-bytes");
  std::vector<std::uint64_t> blocks((bytes + unit - 1) / unit);
  std::iota(blocks.begin(), blocks.end(), std::uint64_t{0});
  if (pass.order == Order::random)
    RandomSource(mixed_seed(user.seed, 0, static_cast<std::uint64_t>(pass.direction) + 1))
        .shuffle(blocks);
  FileWork work(user, unit);
  const TimedFile file{.path = "large", .number = 1, .bytes = bytes, .rewritten = pass.rewritten};
  const OpenOptions options{.create = pass.create, .exclusive = pass.create};
  return work.with_open(
      file, options, pass.create ? "create" : "open", [&](FileHandle handle) -> PhaseResult {
        for (const std::uint64_t block : blocks) {
          const std::uint64_t offset = block * unit;
          const std::uint64_t piece = std::min(unit, bytes - offset);
          const auto done = work.operation([&] {
            return pass.direction == Direction::read ? work.read_at(handle, file, offset, piece)
                                                     : work.write_at(handle, file, offset, piece);
          });
          if (!done) return done;
        }
        if (pass.direction == Direction::read) return {};
        return FileWork::phase_result(user.vfs.fsync(handle), "fsync", file.path);
      });
}

Phase pass_phase(std::string name, const Pass& pass) {
  return {.name = std::move(name), .cold = true, .body = [pass](User& user) {
            return go_through(user, pass);
          }};
}

std::vector<Phase> large_file_phases(const Arguments&) {
  using enum Order;
  using enum Direction;
  return {pass_phase("sequential-write", {.create = true}),
          pass_phase("sequential-read", {.direction = read}),
          pass_phase("random-write", {.order = random, .rewritten = 1}),
          pass_phase("random-read", {.order = random, .direction = read, .rewritten = 1}),
          pass_phase("sequential-reread", {.direction = read, .rewritten = 1})};
}

}  // namespace

TimedWorkload lfs_large_file() {
  return {
      .name = "lfs-large-file",
      .title = "one large file is written and read sequentially, at random, and sequentially again",
      .source = "Rosenblum 1992, section 6.2.1.2, figure 6-4",
      .operation = "blocks",
      .parameters = {{"file-bytes", 100 << 20, 10 << 20, 1, 1LL << 33, "figure 6-4: 100 megabytes"},
                     {"unit-bytes", 8192, 8192, 4096, 1 << 20,
                      "figure 6-4: random writes of 8 kilobytes"}},
      .phases = large_file_phases};
}

}  // namespace headcrash::timed
