#pragma once
// The payloads of a recording, readable at any offset in the file. The first read of a payload
// verifies its checksum.
//
//   add()    SUBMIT | payload 1 |   SUBMIT | payload 2 |   MEDIA | payload 3 |    during reading
//   read()                                      ^^^  payload 2 is read as a whole, verified, marked
//
// Without this check, a flipped bit in a recording would look like a bug in a drive or file system.

#include <atomic>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "plugin/base/result.h"

namespace headcrash::record {

class PayloadIndex {
 public:
  struct Payload {
    std::uint64_t at = 0;  ///< file offset
    std::uint32_t bytes = 0;
    std::uint32_t crc = 0;
    std::uint64_t end() const { return at + bytes; }
  };

  /// Adds a payload. Payloads must be added in file order. Pass `verified` if the payload's
  /// checksum has already been verified.
  void add(const Payload& payload, bool verified);

  /// Reads bytes within one payload. If the payload was not passed to add(), `offset` must be the
  /// offset of its first byte. If the checksum does not match, the error gives the event's offset.
  /// Calls may run concurrently, but not with add().
  Result<void> read(int fd, const std::string& path, std::uint64_t offset,
                    std::span<std::byte> into) const;

 private:
  std::vector<Payload> payloads_;
  mutable std::deque<std::atomic<bool>> verified_;
};

}  // namespace headcrash::record
