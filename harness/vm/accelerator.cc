// Tests whether KVM really runs a guest on this host, and whether it is fast enough (guest.h).
//
// /dev/kvm can exist, open and accept every ioctl although a guest hardly executes, for example if
// nested virtualisation is only partly enabled. This test therefore runs a guest first under
// emulation and then under KVM. The guest is a boot sector of eight bytes. It stores a value to
// QEMU's debug-exit port, which makes QEMU exit with a specific code. KVM is used if its guest
// exits with this code within the time limit, and at most a grace period later than the emulated
// guest. The result is valid until the host reboots.
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <fstream>
#include <string>
#include <utility>

#include "harness/vm/guest.h"
#include "harness/vm/qemu_command.h"
#include "plugin/base/process.h"

namespace headcrash::vm {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kLimit{5};
constexpr std::chrono::seconds kEmulationLimit{30};
constexpr std::chrono::duration<double> kGrace{0.5};
constexpr int kWrittenToPort = 0x10;
constexpr int kGuestRan = (kWrittenToPort << 1) | 1;  // isa-debug-exit
constexpr std::size_t kSectorBytes = 512;

//   cli; mov al, 0x10; out 0xf4, al; hlt; jmp $-1
constexpr std::array<unsigned char, 8> kBootSector{0xfa, 0xb0, kWrittenToPort, 0xe6,
                                                   0xf4, 0xf4, 0xeb,           0xfd};

bool write_boot_sector(const fs::path& path) {
  std::array<char, kSectorBytes> sector{};
  std::copy(kBootSector.begin(), kBootSector.end(), sector.begin());
  sector[kSectorBytes - 2] = '\x55';
  sector[kSectorBytes - 1] = '\xaa';
  std::ofstream file(path, std::ios::binary);
  file.write(sector.data(), sector.size());
  file.close();
  return !file.fail();
}

struct Run {
  std::optional<int> status;
  std::chrono::duration<double> took{};
};

Result<Run> run_boot_sector(const fs::path& sector, const char* accelerator,
                            std::chrono::seconds limit) {
  const auto start = std::chrono::steady_clock::now();
  TRY(const auto process,
      base::Process::start(
          {.argv = {kQemu, "-nodefaults", "-no-user-config", "-no-reboot", "-display", "none",
                    "-machine", "pc", "-accel", accelerator, "-m", "16", "-device",
                    "isa-debug-exit,iobase=0xf4,iosize=0x04", "-drive",
                    "if=floppy,format=raw,read-only=on,file=" + quoted_value(sector.string())}}));
  Run run{.status = process.wait(limit)};
  run.took = std::chrono::steady_clock::now() - start;
  return run;
}

AcceleratorProbe compare(const fs::path& sector) {
  const auto emulated = run_boot_sector(sector, "tcg", kEmulationLimit);
  if (!emulated) return {Accelerator::tcg, emulated.error().message()};
  const auto kvm = run_boot_sector(sector, "kvm", kLimit);
  if (!kvm) return {Accelerator::tcg, kvm.error().message()};
  if (!kvm->status)
    return {Accelerator::tcg, fmt::format("a KVM guest did not start within {} s", kLimit.count())};
  if (*kvm->status != kGuestRan)
    return {Accelerator::tcg, fmt::format("QEMU exited with code {} under KVM", *kvm->status)};
  if (kvm->took > emulated->took + kGrace) {
    return {Accelerator::tcg,
            fmt::format("a test guest took {:.1f} s under KVM, but only {:.1f} s under emulation",
                        kvm->took.count(), emulated->took.count())};
  }
  return {Accelerator::kvm, fmt::format("a test guest took {:.1f} s under KVM", kvm->took.count())};
}

AcceleratorProbe probe_now(const fs::path& cache) {
  if (::access("/dev/kvm", R_OK | W_OK) != 0)
    return {Accelerator::tcg, "this user cannot access /dev/kvm"};
  const fs::path sector = cache / fmt::format(".boot-sector.{}", ::getpid());
  if (!write_boot_sector(sector)) return {Accelerator::tcg, sector.string() + " cannot be written"};
  AcceleratorProbe probe = compare(sector);
  std::error_code error;
  fs::remove(sector, error);
  return probe;
}

}  // namespace

const char* name(Accelerator accelerator) {
  switch (accelerator) {
    case Accelerator::kvm:
      return "kvm";
    case Accelerator::user_mode:
      return "user-mode";
    case Accelerator::tcg:
      break;
  }
  return "tcg";
}

AcceleratorProbe probe_accelerator(const fs::path& cache) {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  const fs::path kept = cache / "accelerator.json";
  std::ifstream file(kept);
  const nlohmann::json known = nlohmann::json::parse(file, nullptr, false);
  if (known.is_object() && !boot.empty() && known.value("boot", "") == boot) {
    return {known.value("accelerator", "") == "kvm" ? Accelerator::kvm : Accelerator::tcg,
            known.value("reason", "")};
  }
  std::error_code error;
  fs::create_directories(cache, error);
  AcceleratorProbe probe = probe_now(cache);
  const fs::path fresh = cache / fmt::format(".accelerator.{}", ::getpid());
  std::ofstream(fresh) << nlohmann::json{{"boot", boot},
                                         {"accelerator", name(probe.accelerator)},
                                         {"reason", probe.reason}}
                       << "\n";
  fs::rename(fresh, kept, error);
  return probe;
}

}  // namespace headcrash::vm
