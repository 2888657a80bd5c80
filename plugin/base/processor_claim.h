#pragma once
// Claims one host processor for a guest and its server. Guest and server wake each other
// constantly, which is much cheaper on one processor than across two. All processes see the claims,
// so two guests do not share a processor while another is free. A claim is an abstract Unix socket
// name, released when its process ends.

#include <sys/types.h>

#include <optional>

#include "plugin/base/descriptor.h"

namespace headcrash::base {

class ProcessorClaim {
 public:
  /// Claims the first unclaimed processor on which the main thread may run. The result holds no
  /// processor if all are claimed.
  static ProcessorClaim take();

  std::optional<int> processor() const { return processor_; }
  /// Pins a thread (0: the calling thread), and the threads it starts later, to the claimed
  /// processor. Has no effect without a claim or without permission.
  void move(pid_t thread) const;

 private:
  Descriptor name_;
  std::optional<int> processor_;
};

}  // namespace headcrash::base
