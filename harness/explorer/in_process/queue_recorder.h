#pragma once
// Records the requests and completions of the driver's queue. The result is a recording, and the
// input of the order rules (order_rules.h).
//
// A failed write is recorded with the contents that the medium has in the range of the write when
// the request completes. From then on, these contents are durable. In a crash state before the
// completion, the write is in flight with the same contents.
//
//   issued     SUBMIT 7: write lba 100, 4 sectors  N N N N
//   failed     the medium has                      N N o o     N new, o old
//   recorded   SUBMIT 7: write lba 100, 4 sectors  N N o o ... ACK 7
//
// When a write is issued, it is not known yet whether it will fail and which contents it will
// leave. All events therefore stay in memory until the end of the run.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "fs-adapters/substrate/os/disk_queue.h"
#include "fs-adapters/substrate/os/executor.h"
#include "harness/explorer/in_process/order_rules.h"
#include "harness/explorer/in_process/state_disk.h"
#include "plugin/record/recording.h"

namespace headcrash::in_process {

class QueueRecorder final : public os::DiskTracer {
 public:
  /// `medium` is the disk to which the queue writes. All arguments must outlive this object.
  QueueRecorder(os::Executor& executor, OrderRules& rules, const StateDisk& medium)
      : executor_(executor), rules_(rules), medium_(medium) {}

  void issued(os::RequestId id, const os::BlockRequest& request,
              const os::Ordering& ordering) override;
  void completed(const os::DiskTrace& request) override;
  void mark(std::string text);
  /// Returns the wait queue that is woken at the disk's next completion.
  os::WaitQueue& answered() { return answered_; }

  std::uint64_t events() const { return events_.size(); }
  bool idle() const { return under_way_ == 0; }
  /// Returns, for each failed request, the cuts directly before and directly after its completion.
  /// Includes failed reads.
  const std::vector<std::uint64_t>& failed_at() const { return failed_at_; }

  /// Writes all events recorded so far. Errors are stored in `writer`.
  void write_to(record::RecordingWriter& writer) const;

 private:
  struct Event {
    enum class Kind : std::uint8_t { submit, ack, mark };
    Kind kind = Kind::mark;
    model::TimeNs at = 0, submitted_at = 0;
    os::RequestId id = 0;
    std::uint64_t lba = 0;
    std::vector<std::byte> data;
    std::string text;
  };
  void now_holds_what_it_left(os::RequestId id);

  os::Executor& executor_;
  OrderRules& rules_;
  const StateDisk& medium_;
  std::vector<Event> events_;
  /// Maps the id of a write in flight to its SUBMIT event.
  std::map<os::RequestId, std::size_t> writes_under_way_;
  std::vector<std::uint64_t> failed_at_;
  std::size_t under_way_ = 0;
  os::WaitQueue answered_{executor_};
};

}  // namespace headcrash::in_process
