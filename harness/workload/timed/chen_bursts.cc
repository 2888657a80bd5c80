// Writes a burst to one file, then measures how long fsync takes.
//
// Source: Chen 1996, section 6. Figure 4 (efficiency): a few megabytes are written to a single
// file, and the time of fsync is measured; nothing else in the system calls sync. Figure 5
// (draining) is the same, but the burst may be larger than the cache, so that part of the data is
// written back during the burst. Our choices: a megabyte of 2^20 bytes, which is also the size of
// each write; 5 MB, the size given in the text; and 80 MB, the smallest cache size in the paper.
// The file is opened again for fsync.
#include "harness/workload/timed/file_work.h"
#include "harness/workload/timed/workloads.h"

namespace headcrash::timed {
namespace {

constexpr std::size_t kUnitBytes = 1 << 20;

TimedFile burst_file(const User& user) {
  return {.path = "burst", .number = 1, .bytes = argument(user.arguments, "burst-kib") << 10};
}

std::vector<Phase> burst_phases(const Arguments&) {
  const auto write = [](User& user) {
    FileWork work(user, kUnitBytes);
    return work.operation([&] { return work.create(burst_file(user)); });
  };
  const auto flush = [](User& user) {
    FileWork work(user, kUnitBytes);
    return work.operation([&] { return work.fsync(burst_file(user)); });
  };
  const auto verify = [](User& user) {
    FileWork work(user, kUnitBytes);
    return work.read(burst_file(user));
  };
  return {{.name = "burst", .body = write},
          {.name = "fsync", .body = flush},
          {.name = "verify", .measured = false, .cold = true, .body = verify}};
}

}  // namespace

TimedWorkload chen_fsync() {
  return {.name = "chen-fsync",
          .title = "efficiency of an fsync of a few megabytes",
          .source = "Chen 1996, section 6, figure 4",
          .operation = "bursts",
          .parameters = {{"burst-kib", 5 << 10, 1 << 10, 1, 1 << 26,
                          "figure 4: 97 % efficiency at 5 MB"}},
          .phases = burst_phases};
}

TimedWorkload chen_burst() {
  return {.name = "chen-burst",
          .title = "time of an fsync that drains a burst as large as the cache",
          .source = "Chen 1996, section 6, figure 5",
          .operation = "bursts",
          .parameters = {{"burst-kib", 80 << 10, 8 << 10, 1, 1 << 26,
                          "figure 5: 80 to 90 MB fill the cache"}},
          .phases = burst_phases};
}

}  // namespace headcrash::timed
