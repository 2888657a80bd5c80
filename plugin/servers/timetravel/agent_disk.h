#pragma once
// A disk through which a guest's agent communicates with the host. In virtual time, every wait of
// the guest must be visible to the calendar. A wait for a disk is visible.
// harness/guest/PROTOCOL.md describes the messages.
//
//   a read of kTransferBytes at kStreamSector    completes with a line from the host: [bytes] text
//   a write of that size there                   is [bytes] text for the host; completes at once
//   any other read                               returns zeroes (the kernel looks for partitions)
//
// [bytes] is the length of the text, 32 bits, little-endian. If a line is longer than one transfer,
// it takes several transfers. Two lines never share a transfer, so the guest's behaviour depends on
// the text and not on its timing.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "plugin/base/virtual_guest.h"
#include "plugin/model/core/device.h"

namespace headcrash::timetravel {

class AgentDisk {
 public:
  static constexpr const char* kName = virtual_guest::kAgentName;
  static constexpr std::uint64_t kStreamSector = virtual_guest::kStreamOffset / model::kSectorBytes;
  static constexpr std::size_t kTransferBytes = virtual_guest::kTransferBytes;
  static constexpr std::uint64_t kSectors = kStreamSector + kTransferBytes / model::kSectorBytes;
  static constexpr std::size_t kTextBytesMax = kTransferBytes - virtual_guest::kLengthBytes;

  /// Serves a request. Returns 0 or an errno. Returns nullopt if the request is a read that must
  /// wait; answer_read() then completes `initiator` later.
  std::optional<int> serve(const model::Request& request, model::Initiator& initiator);

  /// Appends text from the host. The text may end in the middle of a line.
  void from_host(std::string_view text);
  /// Drops an incomplete line. Must be called when the host has disconnected.
  void host_left() { from_host_.resize(complete_); }
  std::size_t host_bytes() const { return from_host_.size(); }
  /// Returns the text for the host, and clears it.
  std::string take_for_host() { return std::exchange(for_host_, {}); }

  bool waits() const { return waiting_.has_value(); }
  /// Returns true if the agent is waiting for the host and no complete line has arrived.
  bool is_idle() const { return waiting_.has_value() && complete_ == 0; }
  /// Returns true if the agent is waiting and a complete line has arrived.
  bool has_answer() const { return waiting_.has_value() && complete_ != 0; }
  /// Completes the waiting read. REQUIRES: has_answer().
  void answer_read();
  /// Resets the state when the guest disconnects.
  void guest_left() {
    waiting_.reset();
    for_host_.clear();
  }

 private:
  struct WaitingRead {
    model::Request request;
    model::Initiator* initiator;
  };
  std::string from_host_;
  std::size_t complete_ = 0;  ///< total size of the complete lines in from_host_
  std::string for_host_;
  std::optional<WaitingRead> waiting_;
};

}  // namespace headcrash::timetravel
