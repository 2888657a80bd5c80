// LFS-06: counts the writes caused by the creation of dir1/file1 and dir2/file2 (figure 4-1).
#include "harness/papers/judge.h"
#include "harness/papers/probe_files.h"
#include "harness/papers/rosenblum92/chapter6.h"
#include "harness/papers/rosenblum92/prototype.h"

namespace headcrash::experiment::rosenblum92 {
namespace {

constexpr os::TimeNs kUntilWritten =
    65 * model::kSecondNs;  // long enough for the syncer to visit each block twice

struct Written {
  Figure requests;
  std::string remark;
};

/// Creates dir1/file1 and dir2/file2, and returns the number of write requests that are issued
/// until all of their data is on the disk. Each directory already contains `others` files.
Written written(const Setup& setup, std::uint64_t file_bytes, std::uint64_t others) {
  const auto machine = ModelledMachine::start(setup.machine);
  if (!machine) return {{}, machine.error().message()};
  Vfs& vfs = (*machine)->vfs();
  VfsResult<void> done;
  run_as_user(**machine, [&] {
    for (const char* folder : {"dir1", "dir2"}) {
      if (done) done = vfs.mkdir(folder, 0755);
      for (std::uint64_t i = 0; done && i < others; ++i)
        done = make_file(vfs, fmt::format("{}/f{}", folder, i), i, file_bytes);
    }
    if (done) done = vfs.syncfs();
  });
  if (!done) return {{}, "a file system call failed"};
  (*machine)->system().executor.run_until((*machine)->now() + kUntilWritten);
  (*machine)->clear_trace();
  run_as_user(**machine, [&] {
    for (const char* path : {"dir1/file1", "dir2/file2"})
      if (done) done = make_file(vfs, path, 1, file_bytes);
  });
  (*machine)->system().executor.run_until((*machine)->now() + kUntilWritten);
  if (!done) return {{}, "a file system call failed"};
  return {static_cast<double>((*machine)->system().queue.counters().issued_writes), {}};
}

}  // namespace

std::vector<ClaimAnswer> two_files(Context&) {
  ClaimAnswer answer{.id = "LFS-06",
                     .part = "two-files",
                     .title = "Writes for dir1/file1 and dir2/file2, with one block each (4-1)"};
  LfsSetup log;
  log.mount.checkpoint_interval_ns = 0;  // no checkpoints: count only the writes for the files
  const Written lfs = written(log.setup(), 4096, 0),
                with_checkpoint = written(LfsSetup{}.setup(), 4096, 0);
  // A directory's inode is normally in the same block as the inodes of its first files. In the
  // dissertation they are in different blocks, so create additional files first.
  constexpr std::uint64_t kInodesOfABlock = 64;
  const Written unix_ffs = written(sunos().setup(), 8192, kInodesOfABlock);
  const Written empty = written(sunos().setup(), 8192, 0);
  const auto add = [&](const char* cell, const Figure& paper, const Written& ours) {
    answer.numbers.push_back({cell, "writes", "", paper, ours.requests, ours.remark});
  };
  add("Sprite LFS", 1., lfs);
  add("Sprite LFS, with the next checkpoint", {}, with_checkpoint);
  add("SunOS, directories with 64 files", 10., unix_ffs);
  add("SunOS, empty directories", {}, empty);
  add_rule(answer, "LFS: one write", {{"writes", lfs.requests}},
           [&] { return *lfs.requests == 1; });
  add_rule(answer, "Unix FFS: ten writes", {{"writes", unix_ffs.requests}},
           [&] { return *unix_ffs.requests == 10; });
  answer.remarks.push_back(
      "Printed: for each file, its data, its inode twice, and its directory's data and inode. "
      "Ours also writes the maps of two cylinder groups, and writes inodes that share a block "
      "together: see the rows. A region of LFS is a single request.");
  return {answer};
}

}  // namespace headcrash::experiment::rosenblum92
