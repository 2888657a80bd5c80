#pragma once
// A lock on a directory, held while a database in the directory is created or migrated.
//
// SQLite's busy timeout does not cover the change to WAL mode, and a database that another process
// has only partly created would be rejected as a foreign file. The lock is on the directory,
// because closing any descriptor of the database file would release SQLite's own locks. The wait
// has a limit, because a server holds the same lock on its store's directory for as long as it
// runs.

#include <chrono>
#include <filesystem>
#include <utility>

#include "plugin/base/result.h"

namespace headcrash::db {

/// Holds the lock until destruction.
class OpeningTurn {
 public:
  /// Takes the lock, waiting at most `patience`. If the directory cannot be opened or locked,
  /// returns an object without a lock. Fails if another process held the lock during the whole
  /// wait; the error names that process if the host reports it.
  static Result<OpeningTurn> take(const std::filesystem::path& database,
                                  std::chrono::milliseconds patience);

  ~OpeningTurn();
  OpeningTurn(OpeningTurn&& other) noexcept : folder_(std::exchange(other.folder_, -1)) {}
  OpeningTurn& operator=(OpeningTurn&&) = delete;
  OpeningTurn(const OpeningTurn&) = delete;
  OpeningTurn& operator=(const OpeningTurn&) = delete;

 private:
  explicit OpeningTurn(int folder) : folder_(folder) {}
  int folder_;  ///< descriptor; negative if there is no lock
};

}  // namespace headcrash::db
