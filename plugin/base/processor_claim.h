#pragma once
// A processor of the host for a guest and its server, which wake each other up all the time: on one
// processor that costs a fraction of what it does between two. Claims of all processes are seen, so
// that two guests do not share one while another is free. A claim is a name among Unix sockets,
// which goes with its process.

#include <sys/types.h>

#include <optional>

#include "plugin/base/descriptor.h"

namespace headcrash::base {

class ProcessorClaim {
 public:
  /// The first processor that this process's main thread may run on and nobody has claimed; none if
  /// there is none.
  static ProcessorClaim take();

  std::optional<int> processor() const { return processor_; }
  /// Moves a thread there, and with it what it starts from now on; 0 is the calling one. Without a
  /// processor, or not permitted: it stays where it is.
  void move(pid_t thread) const;

 private:
  Descriptor name_;
  std::optional<int> processor_;
};

}  // namespace headcrash::base
