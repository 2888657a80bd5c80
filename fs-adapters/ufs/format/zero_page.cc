// What becomes of a block of zeroes that could not be written (zero_page.h).

#include "fs-adapters/ufs/format/zero_page.h"

namespace headcrash::ufs {

/// The pointer that relies on it may be at the driver already, or is issued next.
void ZeroPage::done(os::RequestId, model::Status status) {
  if (status != model::Status::ok) volume_.stop();
}

}  // namespace headcrash::ufs
