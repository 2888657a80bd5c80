#pragma once
// A lock for creating or migrating the databases of a folder.
//
// SQLite's busy timeout does not cover the change to WAL, and a file that another process is
// creating looks foreign. The lock is on the folder, because closing a descriptor of the database
// itself would release SQLite's own locks. A server holds the same lock on the folder of its store
// while it runs, so the wait has a limit.

#include <chrono>
#include <filesystem>
#include <utility>

#include "plugin/base/result.h"

namespace headcrash::db {

/// Held until destruction.
class OpeningTurn {
 public:
  /// Takes the lock, waiting at most `patience`. Succeeds without a lock if the folder cannot be
  /// opened or locked. Fails if another process held the lock all the time; names the process if
  /// the host reports it.
  static Result<OpeningTurn> take(const std::filesystem::path& database,
                                  std::chrono::milliseconds patience);

  ~OpeningTurn();
  OpeningTurn(OpeningTurn&& other) noexcept : folder_(std::exchange(other.folder_, -1)) {}
  OpeningTurn& operator=(OpeningTurn&&) = delete;
  OpeningTurn(const OpeningTurn&) = delete;
  OpeningTurn& operator=(const OpeningTurn&) = delete;

 private:
  explicit OpeningTurn(int folder) : folder_(folder) {}
  int folder_;  ///< descriptor; negative: none
};

}  // namespace headcrash::db
