#pragma once
// Whose turn it is to make or migrate the databases of a folder.
//
// SQLite's busy timeout does not cover the change to WAL, and a file that another process is just
// making looks like a stranger's. The lock is the folder's: a descriptor of the database itself,
// when closed, would take SQLite's own locks with it. A server holds the same lock on the folder of
// its store for as long as it runs, so that a turn may never come.

#include <chrono>
#include <filesystem>
#include <utility>

#include "plugin/base/result.h"

namespace headcrash::db {

/// Held until it is destroyed.
class OpeningTurn {
 public:
  /// Waits for at most `patience`. Where the folder cannot be opened or locked at all there is no
  /// turn to wait for. Error: somebody has had the lock for all that time; names the process if the
  /// host tells it.
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
