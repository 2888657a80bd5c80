// Creates QEMU's command line (qemu_command.h).
//
// Kernel options: because of `panic=-1` and -no-reboot, a panic ends QEMU. With loglevel 5, the
// console shows warnings and more severe messages, which oops.h needs. KASLR and the mitigations of
// processor vulnerabilities are off, because they would only cost time under emulation. The machine
// has no unused devices, because every device makes booting slower.
//
// Disks: the guest sees a write-back cache (write-cache=on) and therefore sends flushes. Disk
// errors are reported to the guest and do not stop the machine. QEMU does not reconnect to a
// server, because the loss of a server means a power cut.
#include "harness/vm/qemu_command.h"

#include <fmt/format.h>

#include <array>
#include <fstream>
#include <memory>

#include "plugin/base/process.h"

namespace headcrash::vm {
namespace {

constexpr std::chrono::seconds kVersionLimit{20};

constexpr const char* kKernelWords =
    "console=ttyS0 panic=-1 loglevel=5 nokaslr mitigations=off tsc=reliable no_timer_check "
    "random.trust_cpu=on "
    "rcupdate.rcu_expedited=1";
constexpr const char* kMachineWords =
    "q35,hpet=off,smbus=off,sata=off,usb=off,vmport=off,graphics=off";

std::string device_words(const GuestDisk& disk, std::size_t index) {
  return fmt::format(
      "virtio-blk-pci,id=hcdisk{0},drive=hcnode{0},serial=headcrash{0},num-queues=1,queue-size=128,"
      "logical_block_size=512,physical_block_size={1},write-cache=on,werror=report,rerror=report",
      index, disk.physical_sector_bytes);
}

std::vector<std::string> blank_disk_arguments(const GuestDisk& disk, std::size_t index) {
  return {"-blockdev",
          fmt::format("driver=null-co,node-name=hcnode{},size={},read-zeroes=on", index,
                      disk.size_bytes),
          "-device", device_words(disk, index)};
}

Result<std::string> qemu_version() {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> output(std::tmpfile(), std::fclose);
  if (!output) return fail(kQemu, "cannot create a temporary file for QEMU's output");
  TRY(auto process,
      base::Process::start({.argv = {kQemu, "--version"}, .output = ::fileno(output.get())}));
  if (process.wait(kVersionLimit) != 0)
    return fail(kQemu, "does not report its version", "run scripts/setup");
  std::rewind(output.get());
  std::array<char, 256> line{};
  if (std::fgets(line.data(), line.size(), output.get()) == nullptr)
    return fail(kQemu, "does not report its version");
  return std::string(line.data());
}

// Returns the model name of the host's processor, which is also the processor of a guest under KVM.
std::string host_processor() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  std::string text;
  for (std::string line; std::getline(cpuinfo, line) && !line.empty();) {
    if (line.starts_with("model name") || line.starts_with("flags") || line.starts_with("stepping"))
      text += line + "\n";
  }
  return text;
}

}  // namespace

std::string quoted_value(const std::string& value) {
  std::string text;
  for (const char c : value) text += c == ',' ? ",," : std::string(1, c);
  return text;
}

std::vector<std::string> qemu_disk_arguments(const GuestDisk& disk, std::size_t index) {
  return {
      "-blockdev",
      fmt::format(
          "driver=nbd,node-name=hcnode{},server.type=unix,server.path={},export={},discard=unmap",
          index, quoted_value(disk.socket.string()), quoted_value(disk.export_name)),
      "-device", device_words(disk, index)};
}

std::vector<std::string> qemu_command(const GuestSpec& spec, const Wiring& wiring) {
  const bool kvm = spec.accelerator == Accelerator::kvm;
  std::vector<std::string> words{kQemu,
                                 "-nodefaults",
                                 "-no-user-config",
                                 "-no-reboot",
                                 "-display",
                                 "none",
                                 "-machine",
                                 kMachineWords,
                                 "-accel",
                                 kvm ? "kvm" : "tcg,thread=single",
                                 "-cpu",
                                 kvm ? "host" : "qemu64",
                                 "-smp",
                                 "1",
                                 "-m",
                                 fmt::format("{}", spec.memory_mib),
                                 "-kernel",
                                 spec.image.kernel.string(),
                                 "-initrd",
                                 spec.image.initramfs.string(),
                                 "-append",
                                 kKernelWords};
  const auto add = [&](std::initializer_list<std::string> more) {
    words.insert(words.end(), more);
  };
  add({"-chardev", "file,id=console,path=" + quoted_value(wiring.console.string()), "-serial",
       "chardev:console"});
  add({"-chardev", fmt::format("socket,id=qmp,fd={}", wiring.qmp_socket), "-mon",
       "chardev=qmp,mode=control"});
  add({"-chardev", fmt::format("socket,id=agent,fd={}", wiring.agent_socket), "-device",
       "virtio-serial-pci", "-device", "virtserialport,chardev=agent,name=headcrash.agent"});
  for (std::size_t i = 0; i < spec.disks.size(); ++i) {
    const auto disk = wiring.disks == Disks::attached ? qemu_disk_arguments(spec.disks[i], i)
                                                      : blank_disk_arguments(spec.disks[i], i);
    words.insert(words.end(), disk.begin(), disk.end());
  }
  if (wiring.incoming) add({"-incoming", "defer"});
  return words;
}

Result<std::string> saved_state_key(const GuestSpec& spec) {
  static const Result<std::string> version = qemu_version();
  if (!version) return forward_error(version);
  GuestSpec anywhere = spec;
  // The key of a state must not contain the kernel's path. The image's key already identifies the
  // kernel.
  anywhere.image.kernel = "vmlinuz";
  anywhere.image.initramfs = "initramfs";
  std::string key = *version + spec.image.key + "\n";
  if (spec.accelerator == Accelerator::kvm) key += host_processor();
  for (const std::string& word : qemu_command(anywhere, {})) key += word + "\n";
  return key;
}

}  // namespace headcrash::vm
