// Does KVM really run a guest here? (guest.h)
//
// /dev/kvm can exist, open and accept every ioctl while the guest never executes (nested virtualisation half
// switched on). So a guest is run: a boot sector of eight bytes that stores to QEMU's debug-exit port, which
// makes QEMU end with a code of its own. Whatever else happens within the limit means emulation. The answer
// holds until the host boots again.
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <fstream>
#include <string>
#include <utility>

#include "harness/vm/guest.h"
#include "harness/vm/process.h"
#include "harness/vm/qemu_command.h"

namespace headcrash::vm {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kLimit{5};
constexpr int kWrittenToPort = 0x10;
constexpr int kGuestRan = (kWrittenToPort << 1) | 1;  // isa-debug-exit
constexpr std::size_t kSectorBytes = 512;

//   cli; mov al, 0x10; out 0xf4, al; hlt; jmp $-1
constexpr std::array<unsigned char, 8> kBootSector{0xfa, 0xb0, kWrittenToPort, 0xe6, 0xf4, 0xf4, 0xeb, 0xfd};

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

AcceleratorProbe run_under_kvm(const fs::path& cache) {
  if (::access("/dev/kvm", R_OK | W_OK) != 0)
    return {Accelerator::tcg, "/dev/kvm is not there for this user"};
  const fs::path sector = cache / fmt::format(".kvm-probe.{}", ::getpid());
  if (!write_boot_sector(sector)) return {Accelerator::tcg, sector.string() + " could not be written"};
  const auto start = std::chrono::steady_clock::now();
  std::optional<int> status;
  {
    auto process =
        Process::start({.argv = {kQemu,
                                 "-nodefaults",
                                 "-no-user-config",
                                 "-no-reboot",
                                 "-display",
                                 "none",
                                 "-machine",
                                 "pc",
                                 "-accel",
                                 "kvm",
                                 "-cpu",
                                 "host",
                                 "-m",
                                 "16",
                                 "-device",
                                 "isa-debug-exit,iobase=0xf4,iosize=0x04",
                                 "-blockdev",
                                 "driver=file,node-name=sector,read-only=on,filename=" + sector.string(),
                                 "-device",
                                 "ide-hd,drive=sector"}});
    if (process) status = process->wait(kLimit);
  }  // kills it
  std::error_code error;
  fs::remove(sector, error);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  if (!status)
    return {Accelerator::tcg, fmt::format("a KVM guest did not start within {} s", kLimit.count())};
  if (*status != kGuestRan) return {Accelerator::tcg, fmt::format("QEMU with KVM ended with {}", *status)};
  return {Accelerator::kvm, fmt::format("a guest ran under KVM in {:.1f} s", took.count())};
}

}  // namespace

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
  AcceleratorProbe probe = run_under_kvm(cache);
  const fs::path fresh = cache / fmt::format(".accelerator.{}", ::getpid());
  std::ofstream(fresh) << nlohmann::json{{"boot", boot},
                                         {"accelerator",
                                          probe.accelerator == Accelerator::kvm ? "kvm" : "tcg"},
                                         {"reason", probe.reason}}
                       << "\n";
  fs::rename(fresh, kept, error);
  return probe;
}

}  // namespace headcrash::vm
