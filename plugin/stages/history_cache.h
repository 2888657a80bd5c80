#pragma once
// The recordings that stages were loaded from lately, kept open: a state of a known recording costs
// microseconds, reading a recording costs as long as it is.

#include <array>
#include <filesystem>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "plugin/states/run_history.h"

namespace headcrash::stages {

/// A recording with what has been found out about its states.
class OpenHistory {
 public:
  explicit OpenHistory(std::shared_ptr<const states::RunHistory> run) : run_(std::move(run)) {}
  const states::RunHistory& run() const { return *run_; }

  /// image.digest() of one of its states, for the price of the difference to the one that was asked
  /// for last: the ranges whose bytes lie elsewhere in the recording. May be called by several
  /// threads.
  Result<std::uint64_t> digest(model::DeviceId device, const states::StateImage& image);

 private:
  struct Known {
    states::StateImage image;
    std::uint64_t digest = 0;
  };
  std::shared_ptr<const states::RunHistory> run_;
  std::mutex mutex_;
  std::map<model::DeviceId, Known> known_;
};

class HistoryCache {
 public:
  static constexpr std::size_t kKeptMax = 8;

  /// The recording as it is on the host now: one that grew or was replaced is read again. Callers
  /// that ask for the same one at once wait for one reading; others do not. May be called by
  /// several threads.
  Result<std::shared_ptr<OpenHistory>> get(const std::filesystem::path& recording);

 private:
  using Version =
      std::array<std::uint64_t, 5>;  ///< device, inode, bytes, and time of the last change
  struct Entry {
    std::filesystem::path path;
    Version version = {};
    std::mutex reading;
    bool read = false;
    Result<std::shared_ptr<OpenHistory>> history;
  };
  static Result<Version> version_of(const std::filesystem::path& recording);
  std::shared_ptr<Entry> entry(const std::filesystem::path& recording, const Version& version);
  void forget(const Entry& entry);

  std::mutex mutex_;
  std::list<std::shared_ptr<Entry>> entries_;  ///< the one asked for last is in front
};

}  // namespace headcrash::stages
