// In-memory images with a list of changes (trial_disk.h).
#include "fs-adapters/ufs/damage/trial_disk.h"

#include <fmt/format.h>

#include <cstring>

#include "fs-adapters/substrate/os/device_address.h"
#include "plugin/base/little_endian.h"

namespace headcrash::ufs::damage {
using namespace little_endian;
namespace {

using model::kSectorBytes;

Result<void> check_range(std::uint64_t sectors, std::uint64_t lba, std::uint64_t count) {
  if (lba <= sectors && count <= sectors - lba) return {};
  return fail("image",
              fmt::format("sectors {} to {} are beyond the end of the image", lba, lba + count));
}

std::uint64_t digest_of(std::span<const std::byte> sector) {
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15U;
  std::uint64_t sum = 0, any = 0;
  for (std::size_t at = 0; at < sector.size(); at += 8) {
    const std::uint64_t word = load64(sector, at);
    any |= word;
    sum = (sum ^ word) * kOdd;
    sum ^= sum >> 29U;
  }
  if (any == 0) return 0;
  return sum == 0 ? 1 : sum;
}

}  // namespace

Result<void> ImageBytes::read(std::uint64_t lba, std::span<std::byte> into) const {
  TRY(check_range(sectors(), lba, into.size() / kSectorBytes));
  std::memcpy(into.data(), image_.data() + lba * kSectorBytes, into.size());
  return {};
}

Result<void> ImageBytes::write(std::uint64_t, std::span<const std::byte>) {
  return fail("image", "is read-only");
}

Result<void> ImageBytes::write_zeroes(std::uint64_t, std::uint64_t) {
  return fail("image", "is read-only");
}

TrialDisk::TrialDisk(std::span<const std::byte> sound, std::uint64_t log_at)
    : sound_(sound),
      log_at_(log_at),
      current_(sound.begin(), sound.end()),
      is_changed_(sound.size() / kSectorBytes) {
  for (std::size_t at = 0; at < sound.size(); at += kSectorBytes)
    sound_digests_.push_back(digest_of(sound.subspan(at, kSectorBytes)));
  digests_ = sound_digests_;
}

Result<std::uint64_t> TrialDisk::place(std::uint64_t address, std::uint64_t count) const {
  const std::uint64_t sector = address & os::kSectorMask;
  if (os::device_of(address) == 0) {
    TRY(check_range(sectors(), sector, count));
    return sector;
  }
  const std::uint64_t log =
      os::device_of(address) == 1 && log_at_ != 0 ? all_sectors() - log_at_ : 0;
  TRY(check_range(log, sector, count));
  return log_at_ + sector;
}

Result<void> TrialDisk::read(std::uint64_t lba, std::span<std::byte> into) const {
  TRY(const auto at, place(lba, into.size() / kSectorBytes));
  std::memcpy(into.data(), current_.data() + at * kSectorBytes, into.size());
  return {};
}

void TrialDisk::changed(std::uint64_t lba, std::uint64_t count) {
  for (std::uint64_t sector = lba; sector < lba + count; ++sector) {
    digests_[sector] = digest_of(bytes().subspan(sector * kSectorBytes, kSectorBytes));
    if (is_changed_[sector]) continue;
    is_changed_[sector] = true;
    changed_.push_back(sector);
  }
}

Result<void> TrialDisk::write(std::uint64_t lba, std::span<const std::byte> data) {
  const std::uint64_t count = data.size() / kSectorBytes;
  TRY(const auto at, place(lba, count));
  std::memcpy(current_.data() + at * kSectorBytes, data.data(), data.size());
  changed(at, count);
  return {};
}

Result<void> TrialDisk::write_zeroes(std::uint64_t lba, std::uint64_t count) {
  TRY(const auto at, place(lba, count));
  std::memset(current_.data() + at * kSectorBytes, 0, count * kSectorBytes);
  changed(at, count);
  return {};
}

void TrialDisk::show_base() {
  for (const std::uint64_t sector : changed_) {
    std::memcpy(current_.data() + sector * kSectorBytes, sound_.data() + sector * kSectorBytes,
                kSectorBytes);
    digests_[sector] = sound_digests_[sector];
    is_changed_[sector] = false;
  }
  changed_.clear();
}

}  // namespace headcrash::ufs::damage
