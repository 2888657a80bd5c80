#pragma once
// What the host did to one device, and what it may count on.
//
//   event      0    1    2      3    4      5    6        7
//              W1   W2   ack W1 F    ack W2 W3   ack F    ^ cut
//                          \____/                |
//              durable: W1, acknowledged before F was submitted, and F acknowledged before the cut
//              unflushed:   W2 (acknowledged after F was submitted) and W3 (never)
//
// One number says what the flushes cover at a cut: the latest submission (`horizon`) of those that
// were acknowledged by then. A write acknowledged before it is durable.
//
// "Everything up to write i" is kept as an index now and then (as record::Timeline does for MEDIA
// events): an image is the kept one before its first lost write, and the writes since without the
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
  /// `used_disk`: a trim changes nothing there (record/used_disk.h), and is left out.
  explicit DeviceWrites(std::uint64_t sectors, bool used_disk = false)
      : sectors_(sectors), used_disk_(used_disk) {}

  /// A SUBMIT or ACK of this device, the `ordinal`th event. False: a request id for the second
  /// time.
  bool add(const record::Event& event, std::uint64_t ordinal);
  void finish();  ///< no more events

  const std::vector<RecordedWrite>& writes() const { return writes_; }
  const std::vector<RecordedFlush>& flushes() const { return flushes_; }
  std::size_t submitted_before(std::uint64_t event) const;  ///< how many of writes()

  std::uint64_t horizon(std::uint64_t event, std::optional<model::RequestId> lies_from) const;
  static bool durable(const RecordedWrite& write, std::uint64_t event, std::uint64_t horizon,
                      std::optional<model::RequestId> lies_from);
  /// Those of writes [first, submitted_before(event)) that are not durable then.
  std::vector<std::size_t> unflushed_at(std::size_t first, std::uint64_t event,
                                        std::optional<model::RequestId> lies_from) const;

 private:
  std::uint64_t sectors_;
  bool used_disk_;
  std::vector<RecordedWrite> writes_;
  std::vector<RecordedFlush> flushes_;
  struct Waiting {
    bool flush = false;
    std::size_t index = 0;
  };
  std::unordered_map<model::RequestId, Waiting> waiting_;  ///< submitted, not acknowledged
};

/// What became of an unflushed write: only sectors [first, first + count) of it are there.
struct Change {
  std::size_t write = 0;
  std::uint32_t first = 0, count = 0;
};

/// What the writes of a power cycle of a run in which the power stayed on make of a medium.
class WritePrefixes {
 public:
  /// `start` is the medium before write `first`; `base` what is below it (may be null; then
  /// unassigned sectors are zeroes). Both pointers must outlive it. `used_disk`: zeroes are noted
  /// everywhere.
  WritePrefixes(record::ExtentIndex start, const StateImage* base,
                const std::vector<RecordedWrite>* writes, std::size_t first, std::size_t end,
                bool used_disk = false);

  /// The medium after writes [first, end) with the changes, which ascend.
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
  std::vector<record::ExtentIndex> kept_;  ///< kept_[i]: before write first_ + i * between_
};

}  // namespace headcrash::states
