#pragma once
// What lies on a stage: the disks that clients see, over the media of a crash state. Media
// themselves (plain_media.h), or an array whose members they are (rebuilt_machine.h).
//
// Nothing here locks: the stage does.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plugin/base/result.h"
#include "plugin/media/written_map.h"
#include "plugin/model/core/device.h"

namespace headcrash::stages {

/// A disk as clients see it.
struct Face {
  std::string name;
  std::uint64_t sectors = 0;
};

class Content {
 public:
  virtual ~Content() = default;

  virtual const std::vector<Face>& faces()
      const = 0;  ///< at least one; the first is the stage's disk

  /// Does the work of a request: 0 or an errno. Gives it an id when a recording needs one.
  virtual int serve(std::size_t face, model::Request& request) = 0;
  /// Tells the recording that the request, whose work ended so, is answered now: 0 or the errno
  /// that the answer has to be instead.
  virtual int acknowledge(std::size_t face, const model::Request& request, int error) = 0;
  virtual void mark(std::string_view text) = 0;
  /// An orderly shutdown of what has volatile state; the content continues afterwards.
  virtual void shut_down() = 0;
  /// Why every request fails from now on, if that is not a fault of the disks.
  virtual std::optional<std::string> error() const { return std::nullopt; }

  virtual media::WrittenMap::Run written(std::size_t face, std::uint64_t lba,
                                         std::uint64_t limit) = 0;
  virtual std::uint64_t overlay_bytes() const = 0;
  virtual Result<std::uint64_t> digest() = 0;  ///< of what clients see now
};

/// One number for several media; that of a single one is its own.
inline std::uint64_t joined_digest(std::uint64_t so_far, std::uint64_t next, bool first) {
  if (first) return next;
  return (so_far ^ (so_far >> 29)) * 0x9e3779b97f4a7c15U + next;
}

}  // namespace headcrash::stages
