// Simulates the small files of a mail server, with transactions on a pool of files.
//
// Source: Katcher, "PostMark: A New File System Benchmark", NetApp TR-3022, 1997, with the settings
// of Soares, Krieger and Da Silva, section IV-D: 20 000 files of 500 to 16 384 bytes in 400
// subdirectories, 100 000 transactions with equal biases. First, a pool of files of random lengths
// is created. Then each transaction reads one file to its end or appends to it, and creates or
// deletes another. At the end, the remaining files are deleted. Reads and writes use blocks of 512
// bytes.
//
// The following choices are ours. The random numbers differ from those of the program; to get its
// sequence, run the program in a guest. File k is in subdirectory k modulo the number of
// subdirectories. An append keeps the file below the largest size. If there is no file to delete,
// one is created. No state is kept between phases: a later phase repeats the random choices of the
// earlier ones.
#include <fmt/format.h>

#include "harness/workload/timed/file_work.h"
#include "harness/workload/timed/random_source.h"
#include "harness/workload/timed/workloads.h"

namespace headcrash::timed {
namespace {

constexpr std::size_t kBlockBytes = 512;

struct PoolFile {
  std::uint32_t number = 0;
  std::uint64_t bytes = 0;
};

/// Makes PostMark's random choices, without executing any file operation.
class Pool {
 public:
  explicit Pool(const User& user)
      : random_(mixed_seed(user.seed, 0, 1)),
        least_bytes_(argument(user.arguments, "least-bytes")),
        most_bytes_(std::max(argument(user.arguments, "most-bytes"), least_bytes_)),
        folders_(argument(user.arguments, "folders")),
        read_bias_(argument(user.arguments, "read-bias")),
        create_bias_(argument(user.arguments, "create-bias")) {
    const std::uint64_t files = argument(user.arguments, "files");
    for (std::uint64_t i = 0; i < files; ++i) add();
  }

  struct Transaction {
    bool read = false, create = false;
    PoolFile used;  ///< the file that is read or appended to, in its state before the transaction
    std::uint64_t appended_bytes = 0;
    PoolFile changed;  ///< the file that is created or removed
  };
  Transaction draw() {
    Transaction drawn;
    PoolFile& used = files_[random_.below(files_.size())];
    drawn.used = used;
    drawn.read = random_.below(10) < read_bias_;
    if (!drawn.read && used.bytes < most_bytes_) {
      drawn.appended_bytes = 1 + random_.below(most_bytes_ - used.bytes);
      used.bytes += drawn.appended_bytes;
    }
    drawn.create = random_.below(10) < create_bias_ || files_.size() < 2;
    if (drawn.create) {
      drawn.changed = add();
    } else {
      const std::size_t at = random_.below(files_.size());
      drawn.changed = files_[at];
      files_[at] = files_.back();
      files_.pop_back();
    }
    return drawn;
  }

  const std::vector<PoolFile>& files() const { return files_; }
  std::uint64_t folders() const { return folders_; }
  static std::string folder(std::uint64_t number) { return fmt::format("s{}", number); }
  TimedFile file(const PoolFile& one) const {
    return {.path = fmt::format("{}/{}", folder(one.number % folders()), one.number),
            .number = one.number,
            .bytes = one.bytes};
  }

 private:
  PoolFile add() {
    files_.push_back({.number = next_number_++,
                      .bytes = least_bytes_ + random_.below(most_bytes_ - least_bytes_ + 1)});
    return files_.back();
  }

  RandomSource random_;
  std::uint64_t least_bytes_, most_bytes_, folders_, read_bias_, create_bias_;
  std::vector<PoolFile> files_;
  std::uint32_t next_number_ = 0;
};

Pool pool_after_transactions(const User& user) {
  Pool pool(user);
  const std::uint64_t transactions = argument(user.arguments, "transactions");
  for (std::uint64_t i = 0; i < transactions; ++i) pool.draw();
  return pool;
}

PhaseResult make_pool_folders(User& user) {
  FileWork work(user, kBlockBytes);
  const Pool pool(user);
  for (std::uint64_t i = 0; i < pool.folders(); ++i) {
    TRY(work.make_folder(Pool::folder(i)));
  }
  return {};
}

PhaseResult create_pool(User& user) {
  FileWork work(user, kBlockBytes);
  const Pool pool(user);
  for (const PoolFile& each : pool.files()) {
    if (const auto made = work.operation([&] { return work.create(pool.file(each)); }); !made)
      return made;
  }
  return {};
}

PhaseResult transact(FileWork& work, const Pool& pool, const Pool::Transaction& drawn) {
  const TimedFile used = pool.file(drawn.used);
  const auto first =
      drawn.read ? work.read(used) : work.with_open(used, {}, "open", [&](FileHandle handle) {
        return work.write_at(handle, used, used.bytes, drawn.appended_bytes);
      });
  if (!first) return first;
  const TimedFile changed = pool.file(drawn.changed);
  return drawn.create ? work.create(changed) : work.remove(changed.path);
}

PhaseResult transact_all(User& user) {
  FileWork work(user, kBlockBytes);
  Pool pool(user);
  const std::uint64_t transactions = argument(user.arguments, "transactions");
  for (std::uint64_t i = 0; i < transactions; ++i) {
    const Pool::Transaction drawn = pool.draw();
    if (const auto done = work.operation([&] { return transact(work, pool, drawn); }); !done)
      return done;
  }
  return {};
}

PhaseResult delete_pool(User& user) {
  FileWork work(user, kBlockBytes);
  const Pool pool = pool_after_transactions(user);
  for (const PoolFile& each : pool.files()) {
    if (const auto gone = work.operation([&] { return work.remove(pool.file(each).path); }); !gone)
      return gone;
  }
  return {};
}

PhaseResult verify_pool(User& user) {
  FileWork work(user);
  const Pool pool = pool_after_transactions(user);
  for (const PoolFile& each : pool.files()) {
    TRY(work.read(pool.file(each)));
  }
  return {};
}

std::vector<Phase> postmark_phases(const Arguments&) {
  return {{.name = "prepare", .measured = false, .body = make_pool_folders},
          {.name = "create", .body = create_pool},
          {.name = "transactions", .body = transact_all},
          {.name = "verify", .measured = false, .body = verify_pool},
          {.name = "delete", .body = delete_pool}};
}

}  // namespace

TimedWorkload postmark() {
  return {.name = "postmark",
          .title = "transactions on a pool of small files, as in PostMark",
          .source =
              "Katcher 1997 (TR-3022); Soares, Krieger and Da Silva, section IV-D; the random "
              "draws are ours",
          .operation = "files or transactions",
          .parameters = {{"files", 20'000, 1'000, 2, 1'000'000,
                          "section IV-D: 20000 (PostMark's default: 500)"},
                         {"transactions", 100'000, 5'000, 0, 1'000'000, "section IV-D: 100000"},
                         {"least-bytes", 500, 500, 0, 1 << 20, "section IV-D: 500 bytes"},
                         {"most-bytes", 16'384, 16'384, 0, 1 << 20, "section IV-D: 16 KiB"},
                         {"folders", 400, 20, 1, 1'000'000, "section IV-D: 400 subdirectories"},
                         {"read-bias", 5, 5, 0, 10, "number of reads in 10 reads and appends"},
                         {"create-bias", 5, 5, 0, 10,
                          "number of creations in 10 creations and deletions"}},
          .phases = postmark_phases};
}

}  // namespace headcrash::timed
