#pragma once
// The conversation of a guest's agent with the host, through a disk: in virtual time every wait of
// the guest has to be seen, and one for a disk's answer is. (harness/guest/PROTOCOL.md says what is
// spoken.)
//
//   a read of kTransferBytes at kStreamSector    is answered when there is a line from the host: [bytes] text
//   a write of as many there                     is [bytes] text for the host, answered at once
//   any other read                               gives zeroes: a kernel looks for partitions
//
// [bytes] is the length of the text, 32 bits, little endian. A line that is longer than one
// transfer takes several; two lines never share one, so that what the guest does depends on what is
// said and not on how fast.

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

  /// An errno or 0; none: the read waits, and `initiator` is told by answer_read().
  std::optional<int> serve(const model::Request& request, model::Initiator& initiator);

  /// What the host has said; it may end in the middle of a line.
  void from_host(std::string_view text);
  /// A line of it that is not finished, since the host has gone.
  void host_left() { from_host_.resize(complete_); }
  std::size_t host_bytes() const { return from_host_.size(); }
  /// What is for the host, once.
  std::string take_for_host() { return std::exchange(for_host_, {}); }

  bool waits() const { return waiting_.has_value(); }
  /// The agent waits for the host, which has said nothing.
  bool is_idle() const { return waiting_.has_value() && complete_ == 0; }
  /// It waits, and there is something.
  bool has_answer() const { return waiting_.has_value() && complete_ != 0; }
  /// REQUIRES: has_answer().
  void answer_read();
  /// The guest has gone, and with it whoever waited.
  void guest_left() {
    waiting_.reset();
    for_host_.clear();
  }

 private:
  struct Waiting {
    model::Request request;
    model::Initiator* initiator;
  };
  std::string from_host_;
  std::size_t complete_ = 0;  ///< bytes of whole lines in it
  std::string for_host_;
  std::optional<Waiting> waiting_;
};

}  // namespace headcrash::timetravel
