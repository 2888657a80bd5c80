#pragma once
// The recordings that stages were loaded from lately, kept open: a state of a known recording costs
// microseconds, reading a recording costs as long as it is.

#include <array>
#include <filesystem>
#include <list>
#include <memory>
#include <mutex>

#include "plugin/states/run_history.h"

namespace headcrash::stages {

class HistoryCache {
 public:
  static constexpr std::size_t kKeptMax = 8;

  /// The recording as it is on the host now: one that grew or was replaced is read again. Callers that ask
  /// for the same one at once wait for one reading; others do not. May be called by several threads.
  Result<std::shared_ptr<const states::RunHistory>> get(const std::filesystem::path& recording);

 private:
  using Version = std::array<std::uint64_t, 5>;  ///< device, inode, bytes, and time of the last change
  struct Entry {
    std::filesystem::path path;
    Version version = {};
    std::mutex reading;
    bool read = false;
    Result<std::shared_ptr<const states::RunHistory>> history;
  };
  static Result<Version> version_of(const std::filesystem::path& recording);
  std::shared_ptr<Entry> entry(const std::filesystem::path& recording, const Version& version);
  void forget(const Entry& entry);

  std::mutex mutex_;
  std::list<std::shared_ptr<Entry>> entries_;  ///< the one asked for last is in front
};

}  // namespace headcrash::stages
