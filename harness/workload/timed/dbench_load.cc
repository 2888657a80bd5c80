// Generates the load (dbench_load.h). Each kind of operation has a quota that is distributed evenly
// over the sessions.
#include "harness/workload/timed/dbench_load.h"

#include <algorithm>

#include "harness/workload/timed/random_source.h"

namespace headcrash::timed {
namespace {

constexpr std::uint64_t kLoadSeed = 0x6462656e6368;
/// Maximum size of one transfer by the clients that this load represents.
constexpr std::uint32_t kLargePiece = 65'536 - 65;

/// Distributes a total evenly over a number of steps.
class Quota {
 public:
  Quota(std::uint64_t total, std::uint64_t percent) : total_(total * percent / 100) {}
  std::uint64_t total() const { return total_; }
  /// Returns the amount for step `step` of `steps`. Must be called once for each step, in order.
  std::uint64_t due(std::uint64_t step, std::uint64_t steps) {
    const std::uint64_t wanted = (total_ * (step + 1) + steps - 1) / steps;
    const std::uint64_t now = wanted - spent_;
    spent_ = wanted;
    return now;
  }

 private:
  std::uint64_t total_, spent_ = 0;
};

/// Generates different lengths that add up to exactly the given total.
class Lengths {
 public:
  Lengths(std::uint64_t bytes, std::uint64_t count)
      : bytes_(bytes), count_(std::max<std::uint64_t>(count, 1)) {}
  std::uint32_t next() {
    const std::uint64_t even = bytes_ * (given_ + 1) / count_ - bytes_ * given_ / count_;
    const std::uint64_t swing = bytes_ / count_ * (given_ / 2 % 8) / 10;
    const bool has_partner = given_ % 2 == 1 || given_ + 1 < count_;
    const bool longer = given_ % 2 == 0;
    ++given_;
    if (!has_partner) return static_cast<std::uint32_t>(even);
    return static_cast<std::uint32_t>(longer ? even + swing : even - swing);
  }

 private:
  std::uint64_t bytes_, count_, given_ = 0;
};

class Generator {
 public:
  explicit Generator(std::uint64_t percent)
      : percent_(percent),
        small_write_lengths_(136'325'491 * percent / 100 - large_writes_.total() * kLargePiece,
                             small_writes_.total()),
        small_read_lengths_(204'929'923 * percent / 100 - large_reads_.total() * kLargePiece,
                            small_reads_.total()) {}

  DbenchLoad make() {
    const std::uint64_t sessions = sessions_.total();
    for (std::uint64_t i = 0; i < sessions; ++i) {
      browse(i, sessions);
      if (creates_.due(i, sessions) > 0) {
        create_session();
      } else {
        use_session();
      }
      remove_and_rename(i, sessions);
    }
    load_.left = files_;
    return std::move(load_);
  }

 private:
  void add(DbenchKind kind, const DbenchFile& file, std::uint64_t offset = 0,
           std::uint64_t length = 0) {
    load_.operations.push_back({.kind = kind,
                                .number = file.number,
                                .renames = file.renames,
                                .offset = static_cast<std::uint32_t>(offset),
                                .length = static_cast<std::uint32_t>(length)});
  }
  DbenchFile any() { return files_.empty() ? DbenchFile{} : files_[random_.below(files_.size())]; }

  /// Adds the queries that are due at this step: look-ups of missing files, listings of
  /// directories, and queries of the free space.
  void browse(std::uint64_t step, std::uint64_t steps) {
    for (std::uint64_t n = missing_.due(step, steps); n > 0; --n)
      add(DbenchKind::missing, {.number = static_cast<std::uint32_t>(random_.below(1000))});
    for (std::uint64_t n = lists_.due(step, steps); n > 0; --n)
      add(DbenchKind::list, {.number = static_cast<std::uint32_t>(random_.below(kDbenchFolders))});
    for (std::uint64_t n = query_space_.due(step, steps); n > 0; --n)
      add(DbenchKind::query_space, {});
  }

  void create_session() {
    const std::uint64_t index = created_++;
    DbenchFile file{.number = next_number_++, .large = index % kLargeEvery == 0};
    add(DbenchKind::create, file);
    const auto put = [&](std::uint32_t length) {
      add(DbenchKind::write, file, file.bytes, length);
      file.bytes += length;
    };
    if (file.large) {
      const std::uint64_t files = (creates_.total() + kLargeEvery - 1) / kLargeEvery;
      for (std::uint64_t n = large_writes_.due(index / kLargeEvery, files); n > 0; --n)
        put(kLargePiece);
    }
    for (std::uint64_t n = small_writes_.due(index, creates_.total()); n > 0; --n)
      put(small_write_lengths_.next());
    for (std::uint64_t n = flushes_.due(index, creates_.total()); n > 0; --n)
      add(DbenchKind::flush, file);
    files_.push_back(file);
    query(file);
    add(DbenchKind::close, file);
  }

  void use_session() {
    const std::uint64_t sessions = sessions_.total() - creates_.total();
    const std::uint64_t index = used_++;
    const std::uint64_t large_reads = large_reads_.due(index, sessions);
    const auto newest_large = std::find_if(files_.rbegin(), files_.rend(),
                                           [](const DbenchFile& file) { return file.large; });
    const DbenchFile file = large_reads > 0 ? *newest_large : any();
    add(DbenchKind::open, file);
    for (std::uint64_t n = 0; n < large_reads; ++n) {
      const std::uint64_t pieces = file.bytes / kLargePiece;
      add(DbenchKind::read, file, random_.below(pieces) * kLargePiece, kLargePiece);
    }
    std::uint64_t at = 0;
    for (std::uint64_t n = small_reads_.due(index, sessions); n > 0; --n) {
      const std::uint32_t length = small_read_lengths_.next();
      if (at + length > file.bytes) at = 0;
      add(DbenchKind::read, file, at, length);
      at += length;
    }
    query(file);
    add(DbenchKind::close, file);
  }

  void query(const DbenchFile& file) {
    const std::uint64_t step = created_ + used_ - 1;
    for (std::uint64_t n = query_file_.due(step, sessions_.total()); n > 0; --n)
      add(DbenchKind::query_file, file);
    for (std::uint64_t n = query_path_.due(step, sessions_.total()); n > 0; --n)
      add(DbenchKind::query_path, file);
  }

  void remove_and_rename(std::uint64_t step, std::uint64_t steps) {
    for (std::uint64_t n = renames_.due(step, steps); n > 0; --n) {
      DbenchFile& file = files_[random_.below(files_.size())];
      add(DbenchKind::rename, file);
      ++file.renames;
    }
    // Never remove the newest large file, because later sessions read it; remove a neighbour in the
    // list instead. Keep at least kKept files, or one file in the last step.
    for (waiting_unlinks_ += unlinks_.due(step, steps); waiting_unlinks_ > 0; --waiting_unlinks_) {
      const bool last = step + 1 == steps;
      const std::size_t keep = last ? 1 : kKept;
      if (files_.size() <= keep) break;
      std::size_t at = random_.below(files_.size());
      if (files_[at].number == newest_large_number()) at = at == 0 ? 1 : at - 1;
      add(DbenchKind::unlink, files_[at]);
      files_.erase(files_.begin() + static_cast<std::ptrdiff_t>(at));
    }
  }
  std::uint32_t newest_large_number() const {
    for (std::size_t i = files_.size(); i-- > 0;) {
      if (files_[i].large) return files_[i].number;
    }
    return 0;
  }

  static constexpr std::uint64_t kLargeEvery = 34;
  static constexpr std::size_t kKept = 4;

  std::uint64_t percent_;
  RandomSource random_{kLoadSeed};
  Quota sessions_{10'067, percent_}, creates_{1'752, percent_}, missing_{2'190, percent_};
  Quota large_writes_{1'664, percent_}, small_writes_{14'074 - 1'664, percent_};
  Quota large_reads_{1'804, percent_}, small_reads_{65'933 - 1'804, percent_};
  Quota flushes_{598, percent_}, unlinks_{1'683, percent_}, renames_{358, percent_},
      lists_{2'981, percent_};
  Quota query_path_{6'269, percent_}, query_file_{7'183, percent_}, query_space_{1'405, percent_};
  Lengths small_write_lengths_, small_read_lengths_;

  DbenchLoad load_;
  std::vector<DbenchFile> files_;
  std::uint64_t created_ = 0, used_ = 0, waiting_unlinks_ = 0;
  std::uint32_t next_number_ = 0;
};

}  // namespace

DbenchLoad dbench_load(std::uint64_t percent) {
  return Generator(percent).make();
}

}  // namespace headcrash::timed
