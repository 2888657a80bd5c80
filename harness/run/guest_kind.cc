// Two words (guest_kind.h).
#include "harness/run/guest_kind.h"

#include <fmt/format.h>

namespace headcrash::run {

Result<void> take_guest_kind(const base::StrictTable& guest, bool& virtual_time) {
  std::string kind = virtual_time ? "virtual" : "qemu";
  if (const auto taken = guest.take("kind", kind); !taken) return taken;
  if (kind != "qemu" && kind != "virtual")
    return fail(guest.subject("kind"), fmt::format("\"{}\" is not a kind of guest", kind),
                "write qemu (real time) or virtual (user-mode Linux in virtual time)");
  virtual_time = kind == "virtual";
  return {};
}

}  // namespace headcrash::run
