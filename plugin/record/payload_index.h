#pragma once
// The payloads of a recording, for reads at any place of the file: each is compared with its
// checksum when its first byte is read, and not again.
//
//   add()    SUBMIT | payload 1 |   SUBMIT | payload 2 |   MEDIA | payload 3 |     as events are passed over
//   read()                                      ^^^  payload 2 is read as a whole, compared, marked
//
// A bit that rotted in a recording would otherwise be taken for what a drive or a file system did.

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
    std::uint64_t at = 0;  ///< offset in the file
    std::uint32_t bytes = 0;
    std::uint32_t crc = 0;
    std::uint64_t end() const { return at + bytes; }
  };

  /// Payloads come in the order of the file. `verified`: its checksum has been compared.
  void add(const Payload& payload, bool verified);

  /// Reads bytes that lie within one payload. A payload that add() has not seen is found if
  /// `offset` is its first byte. Fails with the offset of the event if its checksum does not match.
  /// Safe from several threads while none calls add().
  Result<void> read(int fd, const std::string& path, std::uint64_t offset,
                    std::span<std::byte> into) const;

 private:
  std::vector<Payload> payloads_;
  mutable std::deque<std::atomic<bool>> verified_;
};

}  // namespace headcrash::record
