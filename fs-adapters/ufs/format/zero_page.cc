// Handles failed zeroing writes (zero_page.h).

#include "fs-adapters/ufs/format/zero_page.h"

namespace headcrash::ufs {

/// Stops the volume if the write of zeroes has failed. The driver may already hold the write of a
/// pointer to the zeroed blocks, or may receive this write next.
void ZeroPage::done(os::RequestId, model::Status status) {
  if (status != model::Status::ok) volume_.stop();
}

}  // namespace headcrash::ufs
