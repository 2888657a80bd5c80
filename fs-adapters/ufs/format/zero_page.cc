// Handles failed zeroing writes (zero_page.h).

#include "fs-adapters/ufs/format/zero_page.h"

namespace headcrash::ufs {

/// If the write of zeroes has failed, stops the volume, because the write of a pointer to the
/// zeroed blocks may already be in the driver, or may be issued next.
void ZeroPage::done(os::RequestId, model::Status status) {
  if (status != model::Status::ok) volume_.stop();
}

}  // namespace headcrash::ufs
