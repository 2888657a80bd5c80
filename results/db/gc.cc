#include "results/db/gc.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>
#include <system_error>

#include "results/db/sqlite_error.h"
#include "results/db/statement.h"

namespace headcrash::db {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kDepthMost = 64;
constexpr std::string_view kArtefacts = ".artefacts";

class Folder {
 public:
  explicit Folder(int descriptor) : descriptor_(descriptor) {}
  Folder(Folder&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Folder& operator=(Folder&&) = delete;
  ~Folder() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

std::string reason_of(int code) {
  return std::generic_category().message(code);
}

struct Candidate {
  std::int64_t id = 0;
  std::string path;
  bool chosen = false;
};

/// Returns the components of a path below the database's directory, or the reason why the path is
/// invalid.
tl::expected<std::vector<std::string>, std::string> steps_of(const std::string& path) {
  if (path.empty() || path.find('\0') != std::string::npos)
    return tl::unexpected(std::string("is not a path"));
  if (path.front() == '/') return tl::unexpected(std::string("is an absolute path"));
  std::vector<std::string> steps;
  bool below = false;
  for (std::size_t from = 0; from <= path.size();) {
    const std::size_t end = std::min(path.find('/', from), path.size());
    std::string step = path.substr(from, end - from);
    const bool last = end == path.size();
    from = end + 1;
    if (step == "..") return tl::unexpected(std::string("is outside of the database's folder"));
    if (last && (step.empty() || step == ".")) return tl::unexpected(std::string("is not a file"));
    if (step.empty() || step == ".") continue;
    below = below || (!last && step.ends_with(kArtefacts));
    steps.push_back(std::move(step));
  }
  if (!below) return tl::unexpected(std::string("is not in a folder of artefacts"));
  if (steps.size() > kDepthMost) return tl::unexpected(std::string("is nested too deeply"));
  return steps;
}

enum class Removal { removed, missing };

class Remover {
 public:
  Remover(Folder top, bool dry_run) : top_(std::move(top)), dry_run_(dry_run) {}

  /// Removes a file. If the file must not be removed, returns the reason.
  tl::expected<Removal, std::string> remove(const std::vector<std::string>& steps,
                                            std::int64_t& bytes) const {
    std::vector<Folder> folders;
    for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
      const int above = folders.empty() ? top_.get() : folders.back().get();
      Folder next(
          ::openat(above, steps[i].c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
      if (next.get() < 0) {
        if (errno == ENOENT) return Removal::missing;
        // With O_DIRECTORY, open() returns ENOTDIR for symbolic links, too, so the message must
        // mention both cases.
        return tl::unexpected(errno == ELOOP || errno == ENOTDIR
                                  ? steps[i] + " is not a folder, or is a symbolic link"
                                  : steps[i] + ": " + reason_of(errno));
      }
      folders.push_back(std::move(next));
    }
    struct stat status = {};
    const int folder = folders.back().get();
    if (::fstatat(folder, steps.back().c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
      if (errno == ENOENT) return Removal::missing;
      return tl::unexpected(reason_of(errno));
    }
    if (!S_ISREG(status.st_mode)) return tl::unexpected(std::string("is not a regular file"));
    if (!dry_run_) {
      if (::unlinkat(folder, steps.back().c_str(), 0) != 0) return tl::unexpected(reason_of(errno));
      remove_empty(folders, steps);
    }
    bytes += status.st_size;
    return Removal::removed;
  }

 private:
  /// Removes empty directories, from the deepest one up to the artefacts directory.
  void remove_empty(const std::vector<Folder>& folders,
                    const std::vector<std::string>& steps) const {
    for (std::size_t i = folders.size(); i-- > 0;) {
      const int above = i == 0 ? top_.get() : folders[i - 1].get();
      if (::unlinkat(above, steps[i].c_str(), AT_REMOVEDIR) != 0) return;
      if (steps[i].ends_with(kArtefacts)) return;
    }
  }

  Folder top_;
  bool dry_run_;
};

Result<std::vector<Candidate>> candidates(Database& database, const GcOptions& options) {
  TRY(auto select,
      Statement::prepare(
          database.handle(),
          "SELECT a.id, a.path, "
          "(?1 = 0 OR coalesce(julianday(t.started_at) < julianday(?2) - ?1, 0)) AND NOT (?3 AND ("
          "t.verdict NOT IN ('clean', 'replayed', 'measured') OR EXISTS (SELECT 1 FROM crash_state c WHERE "
          "c.trial_id = t.id "
          "AND c.verdict NOT IN ('clean', 'replayed')))) "
          "FROM artefact a JOIN trial t ON t.id = a.trial_id ORDER BY a.id"));
  select.bind(options.older_than_days, options.now, options.keep_failures);
  std::vector<Candidate> found;
  while (true) {
    TRY(const auto row, select.step());
    if (!row) return found;
    found.push_back({select.integer(0), select.text(1), select.integer(2) != 0});
  }
}

class Collection {
 public:
  Collection(Database& database, const GcOptions& options, const Remover& remover)
      : database_(database), options_(options), remover_(remover) {}

  Result<GcOutcome> run() {
    TRY(auto found, candidates(database_, options_));
    // Keep a file if a row that is not deleted also names it.
    for (const Candidate& each : found)
      if (!each.chosen) ++needed_[fs::path(each.path).lexically_normal().string()];
    TRY(auto forget, Statement::prepare(database_.handle(), "DELETE FROM artefact WHERE id = ?"));
    for (const Candidate& each : found) {
      if (!each.chosen) {
        ++outcome_.kept;
      } else if (remove_file(each) && !options_.dry_run) {
        TRY(forget.bind(each.id).run());
      }
    }
    return std::move(outcome_);
  }

 private:
  /// Removes the file of one row. Returns false if the row must be kept.
  bool remove_file(const Candidate& each) {
    const auto steps = steps_of(each.path);
    if (!steps) {
      outcome_.refused.push_back({each.path, steps.error()});
      return false;
    }
    if (!needed_.contains(fs::path(each.path).lexically_normal().string())) {
      const auto removal = remover_.remove(*steps, outcome_.bytes);
      if (!removal) {
        outcome_.refused.push_back({each.path, removal.error()});
        return false;
      }
      if (*removal == Removal::missing) ++outcome_.missing;
    }
    ++outcome_.removed;
    return true;
  }

  Database& database_;
  const GcOptions& options_;
  const Remover& remover_;
  std::map<std::string, int> needed_;
  GcOutcome outcome_;
};

}  // namespace

Result<GcOutcome> collect_garbage(Database& database, const GcOptions& options) {
  TRY(auto date, Statement::prepare(database.handle(), "SELECT julianday(?) IS NOT NULL"));
  TRY(date.bind(options.now).step());
  if (date.integer(0) == 0) return fail("gc", fmt::format("\"{}\" is not a date", options.now));
  const fs::path folder = fs::absolute(database.path()).parent_path();
  Folder top(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (top.get() < 0) return fail(folder.string(), reason_of(errno), "make the folder readable");
  const Remover remover(std::move(top), options.dry_run);
  Collection collection(database, options, remover);
  if (options.dry_run) return collection.run();
  TRY(auto transaction, Transaction::begin(database.handle()));
  auto outcome = collection.run();
  if (!outcome) return outcome;
  TRY(transaction.commit());
  return outcome;
}

}  // namespace headcrash::db
