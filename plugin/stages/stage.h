#pragma once
// One stage: what was loaded onto it last, the connections that have it open, and the lock they
// take turns by.
//
//   connections --serve()--> [lock] SUBMIT, work [unlock] .. [lock] ACK [unlock]
//   control     --put()----> [lock] other content, other nonce [unlock]     only while no request is inside
//
// Work is done in the order of the SUBMITs, so that the recording's writes and the overlay's are
// the same. An ACK waits until every request that had arrived meanwhile is submitted: what was in
// flight together is recorded as such, and a flush that the guest did not hold back until its
// writes were answered does not cover them. A recorded stage takes its time to answer
// (AnswerDelay), so that a flush which is sent before its writes were awaited finds them in flight.
// (A lock around the whole of a request would make each one durable before the next, and hide a
// file system that flushes too early.)

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

/// How long a recorded stage takes to answer a write or a flush: drawn for each from the seed, most
/// of them in an eighth of the longest time, so that answers come in another order than requests.
struct AnswerDelay {
  std::uint64_t seed = 0;
  std::uint32_t most_us = 0;  ///< 0: at once
  /// Writes to the stage's disk (face 0) that touch one of these ranges take `slow_us` longer: what
  /// nobody waits for is in flight at the next flush.
  std::vector<model::SectorRange> slow = {};
  std::uint32_t slow_us = 0;

  /// Drawn for the request of that number.
  std::chrono::microseconds of(std::uint64_t number) const;
  /// The same and, for a write to slow sectors, the rest.
  std::chrono::microseconds of(std::uint64_t number, std::size_t face,
                               const model::Request& request) const;
};
inline constexpr std::uint32_t kAnswerDelayMostUs = 1'000'000;
inline constexpr std::size_t kSlowPlacesMost = 4096;

/// Text of a mark, and what the mark export can carry in a sector with its NUL.
inline constexpr std::size_t kMarkBytesMax = 511;

struct StageStatus {
  std::string id, recording,
      nonce;  ///< empty before the first load; id and recording for an empty disk
  std::uint64_t overlay_bytes = 0;
  std::uint64_t reads = 0, writes = 0,
                flushes = 0;  ///< since the load; trims and zeroes are writes
  std::optional<std::string> error;
};

class Stage {
 public:
  /// What a load puts onto a stage.
  struct Load {
    std::string id, recording;  ///< of the state; empty: an empty disk
    std::string nonce;
    std::unique_ptr<StageRecording> log;  ///< null: what is done is not recorded
    std::unique_ptr<Content> content;     ///< may tell `log` until its end
    AnswerDelay delay = {};               ///< while it is recorded
  };

  explicit Stage(std::string name) : name_(std::move(name)) {}
  ~Stage();  ///< completes a recording that was not sealed
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  /// A client's time, which recordings have then. From any thread, at any time until the stage
  /// ends. Before the first load.
  void use_clock(StageRecording::Clock clock) { clock_ = std::move(clock); }
  const StageRecording::Clock& clock() const { return clock_; }

  /// Refuses while a request is inside, and disks of another size than open connections have seen.
  Result<void> may_load(const std::vector<Face>& faces) const;
  /// The same, and then the switch: the old overlay is dropped, a recording that was not sealed is
  /// given up as it is.
  Result<void> put(Load load);

  /// A client's. Ends before the stage does.
  class Connection {
   public:
    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    std::uint64_t sectors() const { return sectors_; }  ///< never changes
    int serve(model::Request request);                  ///< 0 or an errno
    /// The same in two halves, for a client whose time is not the host's: the work of the request;
    /// and, once so much of its time has passed, the answer, 0 or an errno. It gives the request an
    /// id. REQUIRES: each is answered.
    struct Begun {
      int error = 0;
      std::chrono::microseconds answer_in{0};
    };
    Begun begin(model::Request& request);
    int answer(const model::Request& request, int error);
    media::WrittenMap::Run written(std::uint64_t lba, std::uint64_t limit);

   private:
    friend class Stage;
    Connection(Stage& stage, std::optional<std::string> face, std::size_t index,
               std::uint64_t sectors)
        : stage_(stage), face_(std::move(face)), index_(index), sectors_(sectors) {}
    Stage& stage_;
    const std::optional<std::string> face_;  ///< none: the stage's disk
    std::size_t index_;                      ///< under the stage's lock: which face that is now
    const std::uint64_t sectors_;
  };
  /// Errors: nothing is loaded yet, or nothing of that name.
  Result<std::unique_ptr<Connection>> connect(const std::optional<std::string>& face);

  std::string nonce() const;  ///< empty before the first load
  /// 1 to kMarkBytesMax bytes; nowhere when nothing is recorded. Errors: the recording's.
  Result<void> mark(std::string_view text);
  Result<Sealed> seal();
  Result<std::uint64_t> digest();
  StageStatus status() const;

 private:
  int serve(const Connection& connection, model::Request& request);
  // Under the lock:
  Connection::Begun begin(const Connection& connection, model::Request& request);
  int end(const Connection& connection, const model::Request& request, int error);
  bool is_recorded(const model::Request& request) const {
    return load_.log != nullptr && request.op != model::Op::read;
  }
  void count(const model::Request& request);
  void note_error(int error);
  template <typename Work>
  int without_exception(const Work& work) noexcept;
  void note_exception(const char* what) noexcept;
  Result<void> check_switch(const std::vector<Face>& faces) const;
  Result<void> check_loaded() const;

  const std::string name_;  ///< "stage 3"
  StageRecording::Clock clock_;
  mutable std::mutex mutex_;
  std::atomic<std::uint64_t> arrived_ = 0;  ///< requests so far, counted before they take the lock
  std::condition_variable all_submitted_;

  // Under the lock:
  Load load_;
  std::uint64_t submitted_ = 0, finished_ = 0;  ///< of those that arrived
  std::set<Connection*> connections_;
  std::uint64_t reads_ = 0, writes_ = 0, flushes_ = 0;
  std::optional<std::string> error_;
};

}  // namespace headcrash::stages
