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
  /// Claims the first unclaimed processor on which the main thread is allowed to run. If all are
  /// claimed, the result holds no processor.
  static ProcessorClaim take();

  std::optional<int> processor() const { return processor_; }
  /// Pins a thread (0 for the calling thread), and all threads that it starts later, to the claimed
  /// processor. Has no effect without a claim or without permission.
  void move(pid_t thread) const;

 private:
  Descriptor name_;
  std::optional<int> processor_;
};

}  // namespace headcrash::base
