// Parses the options `kind` and `charge` of [guest] (guest_kind.h).
#include "harness/run/guest_kind.h"

#include <fmt/format.h>

namespace headcrash::run {

Result<void> parse_guest_kind(const base::StrictTable& guest, bool& virtual_time) {
  std::string kind = virtual_time ? "virtual" : "qemu";
  TRY(guest.take("kind", kind));
  if (kind != "qemu" && kind != "virtual")
    return fail(guest.subject("kind"), fmt::format("unknown kind of guest \"{}\"", kind),
                "use qemu (real time) or virtual (user-mode Linux in virtual time)");
  virtual_time = kind == "virtual";
  return {};
}

Result<void> parse_charge(const base::StrictTable& guest, bool virtual_time, double& charge) {
  if (!guest.has("charge")) return {};
  if (!virtual_time)
    return fail(guest.subject("charge"), "requires a guest in virtual time",
                "add --guest virtual, or kind = \"virtual\" in the [guest] section");
  double wanted = 0;
  if (!guest.take("charge", wanted) || wanted < kChargeLeast || wanted > kChargeMost)
    return fail(
        guest.subject("charge"),
        fmt::format("must be a number from {} to {}", kChargeLeast, kChargeMost),
        "use charge = 1 to count the host's processor time unscaled, or omit charge to count no "
        "processor time");
  charge = wanted;
  return {};
}

std::string virtual_clock(double charge) {
  return charge > 0 ? fmt::format("charged:{}", charge) : kVirtualClock;
}

Result<std::string> with_guests(const std::string& text, const std::string& file,
                                const OtherGuests& guests) {
  const auto& [kernels, kind, charge] = guests;
  if (kernels.empty() && kind.empty() && !charge) return text;
  TRY(base::StrictTable root, base::StrictTable::parse(text, file));
  if (!kernels.empty()) root = root.with("kernels", kernels);
  if (!kind.empty()) root = root.with("guest", "kind", kind);
  if (charge) root = root.with("guest", "charge", *charge);
  return root.text();
}

vm::Accelerator accelerator_of(bool virtual_time, const std::filesystem::path& cache) {
  return virtual_time ? vm::Accelerator::user_mode : vm::probe_accelerator(cache).accelerator;
}

}  // namespace headcrash::run
