#pragma once
// A stage: its current content, the connections that have it open, and their lock.
//
//   connections --serve()--> [lock] SUBMIT, work [unlock] .. [lock] ACK [unlock]
//   control     --load()---> [lock] new content, new nonce [unlock]        only while idle
//
// Requests are performed in the order of their SUBMITs, so the recording and the overlay have the
// same order of writes. An ACK is recorded only after every request that has arrived so far has
// been submitted. Requests that are in flight together are therefore in flight together in the
// recording as well, and a flush that the guest sends before its writes are answered does not cover
// these writes. A recorded stage delays its answers (AnswerDelay), so that writes are still in
// flight when a flush is sent too early. (A lock around a whole request would complete each request
// before the next, and would hide the defect of a file system that flushes too early.)

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "plugin/model/core/sector_range.h"
#include "plugin/stages/content.h"
#include "plugin/stages/stage_recording.h"

namespace headcrash::stages {

/// Determines how long a recorded stage delays its answers to writes and flushes. The delay of each
/// request is drawn at random from the seed. Most delays are at most an eighth of the maximum, so
/// answers are reordered.
struct AnswerDelay {
  std::uint64_t seed = 0;
  std::uint32_t most_us = 0;  ///< 0 for no delay
  /// Writes to the stage's disk (index 0) that overlap one of these ranges take `slow_us` longer.
  /// If a file system does not wait for such a write before it flushes, the write is still in
  /// flight at the flush.
  std::vector<model::SectorRange> slow = {};
  std::uint32_t slow_us = 0;

  /// Returns the delay of the request with this sequence number.
  std::chrono::microseconds of(std::uint64_t number) const;
  /// Returns `of(number)`, plus `slow_us` if the request is a write that overlaps one of the slow
  /// ranges.
  std::chrono::microseconds of(std::uint64_t number, std::size_t disk_index,
                               const model::Request& request) const;
};
inline constexpr std::uint32_t kAnswerDelayMostUs = 1'000'000;
inline constexpr std::size_t kSlowPlacesMost = 4096;

/// Maximum length of a mark. The mark export transfers a mark and its terminating NUL in one
/// sector.
inline constexpr std::size_t kMarkBytesMax = 511;

struct StageStatus {
  /// `nonce` is empty before the first load; `id` and `recording` are empty for an empty disk.
  std::string id, recording, nonce;
  std::uint64_t overlay_bytes = 0;
  /// Numbers of requests since the load. Trims and zeroing requests count as writes.
  std::uint64_t reads = 0, writes = 0, flushes = 0;
  std::optional<std::string> error;
};

class Stage {
 public:
  /// The contents with which a stage is loaded.
  struct LoadRequest {
    std::string id, recording;  ///< identifies the state; both empty for an empty disk
    std::string nonce;
    std::unique_ptr<StageRecording> log;    ///< null if not recorded
    std::unique_ptr<StageContent> content;  ///< may use `log`, so must be destroyed before it
    AnswerDelay delay = {};
  };

  explicit Stage(std::string name) : name_(std::move(name)) {}
  ~Stage();  ///< completes the recording if it is not sealed
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  /// Sets the clock for recordings. The clock belongs to a client. Any thread may call `clock`
  /// until the stage is destroyed. REQUIRES: nothing has been loaded yet.
  void use_clock(StageRecording::Clock clock) { clock_ = std::move(clock); }
  const StageRecording::Clock& clock() const { return clock_; }

  /// Fails while a request is in flight, or if the new disks do not have the sizes that open
  /// connections have seen.
  Result<void> may_load(const std::vector<DiskInfo>& disk_infos) const;
  /// Fails in the same cases as may_load(). Otherwise, replaces the stage's content. The old
  /// overlay is dropped, and an unsealed recording is discarded.
  Result<void> load(LoadRequest load);

  /// A client's connection. It must be destroyed before the stage.
  class Connection {
   public:
    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    std::uint64_t sectors() const { return sectors_; }  ///< constant
    int serve(model::Request request);                  ///< returns 0 or an errno
    /// Serves a request in two steps, for a client whose time differs from the host's. begin()
    /// performs the request and assigns an id. answer() returns 0 or an errno; call it when
    /// `answer_in` has passed in the client's time. REQUIRES: answer() is called for every request
    /// that was begun.
    struct StartedRequest {
      int error = 0;
      std::chrono::microseconds answer_in{0};
    };
    StartedRequest begin(model::Request& request);
    int answer(const model::Request& request, int error);
    media::WrittenMap::Run written(std::uint64_t lba, std::uint64_t limit);

   private:
    friend class Stage;
    Connection(Stage& stage, std::optional<std::string> disk_name, std::size_t index,
               std::uint64_t sectors)
        : stage_(stage), disk_name_(std::move(disk_name)), index_(index), sectors_(sectors) {}
    Stage& stage_;
    const std::optional<std::string> disk_name_;  ///< nullopt for the stage's first disk
    std::size_t index_;  ///< current index of this disk; guarded by the stage's lock
    const std::uint64_t sectors_;
  };
  /// Opens a disk of the stage. Fails if nothing has been loaded, or if there is no such disk.
  Result<std::unique_ptr<Connection>> connect(const std::optional<std::string>& disk_name);

  std::string nonce() const;  ///< empty before the first load
  /// Records a mark of 1 to kMarkBytesMax bytes. Has no effect if the stage is not recorded. Fails
  /// with the recording's error.
  Result<void> mark(std::string_view text);
  Result<Sealed> seal();
  Result<std::uint64_t> digest();
  StageStatus status() const;

 private:
  int serve(const Connection& connection, model::Request& request);
  // REQUIRES: the lock is held
  Connection::StartedRequest begin(const Connection& connection, model::Request& request);
  int end(const Connection& connection, const model::Request& request, int error);
  bool is_recorded(const model::Request& request) const {
    return load_.log != nullptr && request.op != model::Op::read;
  }
  void count(const model::Request& request);
  void note_error(int error);
  template <typename Work>
  int without_exception(const Work& work) noexcept;
  void note_exception(const char* what) noexcept;
  Result<void> check_switch(const std::vector<DiskInfo>& disk_infos) const;
  Result<void> check_loaded() const;

  const std::string name_;  ///< "stage 3"
  StageRecording::Clock clock_;
  mutable std::mutex mutex_;
  /// Number of requests that have arrived. A request is counted before it takes the lock.
  std::atomic<std::uint64_t> arrived_ = 0;
  std::condition_variable all_submitted_;

  // ---- guarded by the lock
  LoadRequest load_;
  /// Numbers of submitted and of finished requests.
  std::uint64_t submitted_ = 0, finished_ = 0;
  std::set<Connection*> connections_;
  std::uint64_t reads_ = 0, writes_ = 0, flushes_ = 0;
  std::optional<std::string> error_;
};

}  // namespace headcrash::stages
