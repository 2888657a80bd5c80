#include "harness/explorer/guests/stack_probe.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>

#include "harness/explorer/guests/stack_rules.h"
#include "plugin/base/random.h"

namespace headcrash::explorer {
namespace {

constexpr std::size_t kWrites = 32, kWritesPerFlush = 4;
constexpr std::size_t kZeroingEvery = 4;  ///< one write in kZeroingEvery is a zeroing
constexpr std::size_t kPreflushes = 8, kWritesPerPreflush = 4;
constexpr std::uint64_t kBlockBytes = 4096;
constexpr std::uint64_t kJournalledBlocks = 4096;  ///< size of the file system with a journal
constexpr std::uint64_t kLongestBlocks = 48;       ///< longer than several stripes of an array
constexpr const char* kBytesFile = "/tmp/stack-probe";
constexpr const char* kJournalled = "/tmp/stack-probe-mount";  ///< mount point

Result<std::string> run_in_guest(StageGuest& guest, const std::vector<std::string>& argv) {
  TRY(const auto done, guest.exec(argv));
  if (done.exit_code == 0) return done.out();
  return run::stop(ErrorKind::other, fmt::format("the probe of the stack failed: {}: {}",
                                                 fmt::join(argv, " "), done.output));
}
Result<std::string> run_in_guest(StageGuest& guest, const std::string& command) {
  return run_in_guest(guest, std::vector<std::string>{"sh", "-c", command});
}

Result<std::uint64_t> device_bytes(StageGuest& guest, const std::string& device) {
  TRY(const auto text, run_in_guest(guest, "blockdev --getsize64 " + device));
  std::uint64_t bytes = 0;
  std::from_chars(text.data(), text.data() + text.size(), bytes);
  if (bytes < kBlockBytes * (kJournalledBlocks + 2 * kLongestBlocks))
    return run::stop(ErrorKind::other,
                     fmt::format("{} is too small; its size in bytes is {}", device, text));
  return bytes;
}

/// Writes to the device of an assembled stack, and sets marks.
class Probe {
 public:
  Probe(StageGuest& guest, const std::string& device, std::uint64_t bytes, std::uint64_t seed)
      : guest_(guest), device_(device), blocks_(bytes / kBlockBytes), random_(seed) {}

  /// Writes, zeroes and flushes.
  Result<void> write_and_flush();
  /// Creates a file system at the start of the device. Writes to the rest of the device, without a
  /// flush, before each commit to the journal of this file system.
  Result<void> write_with_preflushes();

 private:
  struct Blocks {
    std::uint64_t first, count;
  };
  /// Chooses a random range of at most `most` blocks, none of them before block `from`.
  Blocks choose(std::uint64_t most, std::uint64_t from = 0) {
    const std::uint64_t count = most == 1 ? 1 : random_.below(most) + 1;
    return {from + random_.below(blocks_ - from - count), count};
  }
  Result<void> mark(const std::string& text) { return guest_.server().mark(guest_.stage(), text); }
  Result<void> write(const Blocks& blocks);
  Result<void> zero(const Blocks& blocks, std::size_t number);

  StageGuest& guest_;
  const std::string& device_;
  const std::uint64_t blocks_;
  Random random_;
};

Result<void> Probe::write(const Blocks& blocks) {
  return run_in_guest(guest_,
                      fmt::format("dd if={} of={} bs={} count=1 seek={} oflag=direct,seek_bytes "
                                  "conv=notrunc 2>/dev/null",
                                  kBytesFile, device_, blocks.count * kBlockBytes,
                                  blocks.first * kBlockBytes))
      .map([](const std::string&) {});
}

Result<void> Probe::zero(const Blocks& blocks, std::size_t number) {
  // Run the program directly. A shell would run its built-in blkdiscard, which cannot zero.
  TRY(run_in_guest(guest_, {"blkdiscard", "-z", "-o", std::to_string(blocks.first * kBlockBytes),
                            "-l", std::to_string(blocks.count * kBlockBytes), device_}));
  TRY(const auto nonzero,
      run_in_guest(guest_,
                   fmt::format("dd if={} bs={} count=1 skip={} iflag=direct,skip_bytes "
                               "2>/dev/null | tr -d '\\000' | wc -c",
                               device_, blocks.count * kBlockBytes, blocks.first * kBlockBytes)));
  if (nonzero == "0\n") return {};
  return mark(fmt::format("{}{}", kStackLostZeroes, number));
}

Result<void> Probe::write_and_flush() {
  for (std::size_t i = 0; i < kWrites; ++i) {
    const Blocks blocks = choose(i % 2 == 0 ? 1 : kLongestBlocks);
    if (i % kZeroingEvery == kZeroingEvery - 1) {
      TRY(zero(blocks, i));
    } else {
      TRY(write(blocks));
    }
    TRY(mark(fmt::format("{}{}", kStackAnswered, i)));
    if ((i + 1) % kWritesPerFlush != 0) continue;
    TRY(run_in_guest(
        guest_,
        fmt::format("dd if=/dev/null of={} count=0 conv=notrunc,fsync 2>/dev/null", device_)));
    TRY(mark(fmt::format("{}{}", kStackFlushed, i)));
  }
  return {};
}

Result<void> Probe::write_with_preflushes() {
  TRY(run_in_guest(guest_,
                   fmt::format("mkdir -p {0} && mkfs.ext4 -q -F -b {1} -J size=4 -E nodiscard,"
                               "lazy_itable_init=0,lazy_journal_init=0 {2} {3} && "
                               "mount -t ext4 {2} {0} && : > {0}/file && sync",
                               kJournalled, kBlockBytes, device_, kJournalledBlocks)));
  TRY(mark(std::string(kStackPreflushes)));
  for (std::size_t i = 0; i < kPreflushes; ++i) {
    for (std::size_t j = 0; j < kWritesPerPreflush; ++j)
      TRY(write(choose(kLongestBlocks, kJournalledBlocks)));
    TRY(run_in_guest(guest_, fmt::format("dd if={} of={}/file bs={} count=1 seek={} "
                                         "conv=notrunc,fsync 2>/dev/null",
                                         kBytesFile, kJournalled, kBlockBytes, i)));
  }
  return {};
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
  const adapters::Stack& stack = *filesystem.stack;
  TRY(const auto bytes, device_bytes(guest, stack.device));
  TRY(run_in_guest(guest, fmt::format("head -c {} /dev/urandom > {}", kBlockBytes * kLongestBlocks,
                                      kBytesFile)));
  Probe probe(guest, stack.device, bytes, disk.options.seed);
  TRY(probe.write_and_flush());
  if (stack.rules.preflushed_on_all) TRY(probe.write_with_preflushes());
  TRY(guest.server().seal(guest.stage()));
  if (stack.rules.preflushed_on_all)
    TRY(run_in_guest(guest, fmt::format("umount {}", kJournalled)));
  return guest.stop_stack();
}

}  // namespace headcrash::explorer
