// Handles failed zeroing writes (zero_page.h).

#include "fs-adapters/ufs/format/zero_page.h"

namespace headcrash::ufs {

/// The dependent pointer may already be in the driver, or is issued next.
void ZeroPage::done(os::RequestId, model::Status status) {
  if (status != model::Status::ok) volume_.stop();
}

}  // namespace headcrash::ufs
