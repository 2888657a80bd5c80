#pragma once
// What the driver's queue is asked and answers, as a recording and as rules (order_rules.h).
//
// A write that fails is recorded as one of what it left: its bytes become those that the medium has
// in its place when it is complete, and from then on they are durable. States before that have the
// write as any other that is under way, and what it may have put there by then is what it left.
//
//   issued     SUBMIT 7: write lba 100, 4 sectors  N N N N
//   failed     the medium has                      N N o o     N new, o old
//   recorded   SUBMIT 7: write lba 100, 4 sectors  N N o o ... ACK 7
//
// What it leaves is not known when it is issued, so that events are kept in memory until the run
// has ended.

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
  /// All must outlive it. The medium is that on which the queue's disk writes.
  QueueRecorder(os::Executor& executor, OrderRules& rules, const StateDisk& medium)
      : executor_(executor), rules_(rules), medium_(medium) {}

  void issued(os::RequestId id, const os::BlockRequest& request,
              const os::Ordering& ordering) override;
  void completed(const os::DiskTrace& request) override;
  void mark(std::string text);
  /// Wakes whoever waits for the next answer of the disk.
  os::WaitQueue& answered() { return answered_; }

  std::uint64_t events() const { return events_.size(); }
  bool idle() const { return under_way_ == 0; }
  /// Events before each request that has failed, reads too, was complete, and with it.
  const std::vector<std::uint64_t>& failed_at() const { return failed_at_; }

  /// Everything so far. The writer keeps its errors.
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
  std::map<os::RequestId, std::size_t> writes_under_way_;  ///< their SUBMIT events
  std::vector<std::uint64_t> failed_at_;
  std::size_t under_way_ = 0;
  os::WaitQueue answered_{executor_};
};

}  // namespace headcrash::in_process
