#pragma once
// Keeps recently used recordings open. Loading a state of an open recording takes microseconds;
// opening a recording takes time proportional to its length.

#include <array>
#include <filesystem>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "plugin/states/run_history.h"

namespace headcrash::stages {

/// A recording with cached digests of its states.
class OpenHistory {
 public:
  explicit OpenHistory(std::shared_ptr<const states::RunHistory> run) : run_(std::move(run)) {}
  const states::RunHistory& run() const { return *run_; }

  /// Returns image.digest() for a state of the recording. The digest is derived from the digest of
  /// the previous call's image. The cost is proportional to the ranges whose bytes are at different
  /// locations in the two images. Thread-safe.
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

  /// Returns the current version of the recording. A recording that has grown or has been replaced
  /// is read again. Concurrent callers for the same recording share one read; callers for other
  /// recordings do not wait. Thread-safe.
  Result<std::shared_ptr<OpenHistory>> get(const std::filesystem::path& recording);

 private:
  /// Device, inode, size, and change time of the file.
  using Version = std::array<std::uint64_t, 5>;
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
  std::list<std::shared_ptr<Entry>> entries_;  ///< most recently used first
};

}  // namespace headcrash::stages
