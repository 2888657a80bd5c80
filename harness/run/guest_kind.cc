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

Result<std::string> with_guests(const std::string& text, const std::string& file,
                                const std::vector<std::string>& kernels, const std::string& kind) {
  if (kernels.empty() && kind.empty()) return text;
  Result<base::StrictTable> root = base::StrictTable::parse(text, file);
  if (!root) return pass_on(root);
  if (!kernels.empty()) root = root->with("kernels", kernels);
  if (!kind.empty()) root = root->with("guest", "kind", kind);
  return root->text();
}

vm::Accelerator accelerator_of(bool virtual_time, const std::filesystem::path& cache) {
  return virtual_time ? vm::Accelerator::user_mode : vm::probe_accelerator(cache).accelerator;
}

}  // namespace headcrash::run
