#include "harness/explorer/guests/stack_probe.h"

#include <fmt/format.h>

#include <charconv>

#include "harness/explorer/guests/stack_rules.h"
#include "plugin/base/random.h"

namespace headcrash::explorer {
namespace {

constexpr std::size_t kWrites = 32, kWritesPerFlush = 4;
constexpr std::uint64_t kBlockBytes = 4096;
constexpr std::uint64_t kLongestBlocks = 48;  ///< longer than several stripes of an array
constexpr const char* kBytesFile = "/tmp/stack-probe";

Result<std::string> run_in_guest(StageGuest& guest, const std::string& command) {
  TRY(const auto done, guest.exec({"sh", "-c", command}));
  if (done.exit_code == 0) return done.out();
  return run::stop(ErrorKind::other,
                   fmt::format("the probe of the stack failed: {}: {}", command, done.output));
}

Result<std::uint64_t> device_bytes(StageGuest& guest, const std::string& device) {
  TRY(const auto text, run_in_guest(guest, "blockdev --getsize64 " + device));
  std::uint64_t bytes = 0;
  std::from_chars(text.data(), text.data() + text.size(), bytes);
  if (bytes < kBlockBytes * kLongestBlocks)
    return run::stop(ErrorKind::other, fmt::format("{} is too small: {}", device, text));
  return bytes;
}

}  // namespace

Result<void> record_stack_probe(StageGuest& guest, const adapters::LinuxAdapter& filesystem,
                                const FormattedDisk& disk, const std::filesystem::path& recording) {
  std::error_code error;
  std::filesystem::remove(recording, error);
  TRY(guest.load({.recording = std::filesystem::absolute(disk.recording),
                  .state = disk.state,
                  .record = std::filesystem::absolute(recording),
                  .delay_us = disk.options.delay_us,
                  .delay_seed = disk.options.seed}));
  TRY(guest.assemble_stack(filesystem, StageGuest::Assembly::before_workload));
  const std::string& device = filesystem.stack->device;
  TRY(const auto bytes, device_bytes(guest, device));
  TRY(run_in_guest(guest, fmt::format("head -c {} /dev/urandom > {}", kBlockBytes * kLongestBlocks,
                                      kBytesFile)));
  device::StateServer& server = guest.server();
  Random random(disk.options.seed);
  for (std::size_t i = 0; i < kWrites; ++i) {
    const std::uint64_t blocks = i % 2 == 0 ? 1 : random.below(kLongestBlocks) + 1;
    const std::uint64_t at = random.below(bytes / kBlockBytes - blocks);
    TRY(run_in_guest(guest,
                     fmt::format("dd if={} of={} bs={} count=1 seek={} oflag=direct,seek_bytes "
                                 "conv=notrunc 2>/dev/null",
                                 kBytesFile, device, blocks * kBlockBytes, at * kBlockBytes)));
    TRY(server.mark(guest.stage(), fmt::format("{}{}", kStackAnswered, i)));
    if ((i + 1) % kWritesPerFlush != 0) continue;
    TRY(run_in_guest(
        guest,
        fmt::format("dd if=/dev/null of={} count=0 conv=notrunc,fsync 2>/dev/null", device)));
    TRY(server.mark(guest.stage(), fmt::format("{}{}", kStackFlushed, i)));
  }
  TRY(server.seal(guest.stage()));
  return guest.stop_stack();
}

}  // namespace headcrash::explorer
