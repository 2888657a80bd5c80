#pragma once
// The host's writes to one device, and their durability.
//
//   event      0    1    2      3    4      5    6        7
//              W1   W2   ack W1 F    ack W2 W3   ack F    ^ cut
//                          \____/                |
//              durable: W1, acknowledged before F was submitted, and F acknowledged before the cut
//              unflushed:   W2 (acknowledged after F was submitted) and W3 (not acknowledged)
//
// One number, `horizon`, describes which writes the flushes cover at a cut: the latest submission
// among the flushes acknowledged by then. A write acknowledged before the horizon is durable.
//
// "Everything up to write i" is kept as an index at intervals (as record::Timeline does for MEDIA
// events). An image is the index before its first lost write, plus the later writes without the
// lost ones.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "plugin/record/event.h"
#include "plugin/record/extent_index.h"
#include "plugin/states/run_history.h"

namespace headcrash::states {

class DeviceWrites {
 public:
  /// If `used_disk` is true, trims have no effect (record/used_disk.h) and are ignored.
  explicit DeviceWrites(std::uint64_t sectors, bool used_disk = false)
      : sectors_(sectors), used_disk_(used_disk) {}

  /// Adds a SUBMIT or ACK event of this device; `ordinal` is the event's number in the recording.
  /// Returns false for a duplicate request id.
  bool add(const record::Event& event, std::uint64_t ordinal);
  void finish();  ///< REQUIRES: all events have been added

  const std::vector<RecordedWrite>& writes() const { return writes_; }
  const std::vector<RecordedFlush>& flushes() const { return flushes_; }
  /// the number of writes submitted before the event; also an index into writes()
  std::size_t submitted_before(std::uint64_t event) const;

  std::uint64_t horizon(std::uint64_t event, std::optional<model::RequestId> lies_from) const;
  static bool durable(const RecordedWrite& write, std::uint64_t event, std::uint64_t horizon,
                      std::optional<model::RequestId> lies_from);
  /// Returns the writes in [first, submitted_before(event)) that are not durable at `event`.
  std::vector<std::size_t> unflushed_at(std::size_t first, std::uint64_t event,
                                        std::optional<model::RequestId> lies_from) const;

 private:
  std::uint64_t sectors_;
  bool used_disk_;
  std::vector<RecordedWrite> writes_;
  std::vector<RecordedFlush> flushes_;
  struct PendingRequest {
    bool flush = false;
    std::size_t index = 0;
  };
  std::unordered_map<model::RequestId, PendingRequest> waiting_;  ///< submitted, not acknowledged
};

/// The fate of an unflushed write that is only partly present: sectors [first, first + count) are
/// present.
struct Change {
  std::size_t write = 0;
  std::uint32_t first = 0, count = 0;
};

/// Rebuilds a medium from some or all of the writes of one power cycle.
class WritePrefixes {
 public:
  /// `start` is the medium before write `first`. `base` is the image below `start`; if it is null,
  /// unassigned sectors are zeroes. `base` and `writes` must outlive this object. If `used_disk` is
  /// true, unassigned sectors may have contents, so every write of zeroes is recorded.
  WritePrefixes(record::ExtentIndex start, const StateImage* base,
                const std::vector<RecordedWrite>* writes, std::size_t first, std::size_t end,
                bool used_disk = false);

  /// Returns the medium after writes [first, end). A write in `changes` is present only in the
  /// sectors given there. `changes` must be ascending.
  record::ExtentIndex after(std::size_t end, std::span<const Change> changes) const;

 private:
  void apply(record::ExtentIndex& index, const RecordedWrite& write, std::uint32_t first,
             std::uint32_t count) const;
  void apply_zeroes(record::ExtentIndex& index, std::uint64_t lba, std::uint64_t sectors) const;

  const StateImage* base_;
  const std::vector<RecordedWrite>* writes_;
  std::size_t first_;
  std::size_t between_;
  bool used_disk_;
  /// kept_[i] is the medium before write first_ + i * between_
  std::vector<record::ExtentIndex> kept_;
};

}  // namespace headcrash::states
