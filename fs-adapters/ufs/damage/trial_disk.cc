// Bytes, and a list of what was written (trial_disk.h).
#include "fs-adapters/ufs/damage/trial_disk.h"

#include <fmt/format.h>

#include <cstring>

#include "plugin/base/little_endian.h"

namespace headcrash::ufs::damage {
using namespace little_endian;
namespace {

using model::kSectorBytes;

Result<void> check_range(std::uint64_t sectors, std::uint64_t lba, std::uint64_t count) {
  if (lba <= sectors && count <= sectors - lba) return {};
  return fail("image", fmt::format("sectors {} to {} are beyond its end", lba, lba + count));
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
  if (auto inside = check_range(sectors(), lba, into.size() / kSectorBytes); !inside) return inside;
  std::memcpy(into.data(), image_.data() + lba * kSectorBytes, into.size());
  return {};
}

Result<void> ImageBytes::write(std::uint64_t, std::span<const std::byte>) {
  return fail("image", "is only read here");
}

Result<void> ImageBytes::write_zeroes(std::uint64_t, std::uint64_t) {
  return fail("image", "is only read here");
}

TrialDisk::TrialDisk(std::span<const std::byte> sound)
    : sound_(sound), current_(sound.begin(), sound.end()), is_changed_(sound.size() / kSectorBytes) {
  for (std::size_t at = 0; at < sound.size(); at += kSectorBytes)
    sound_digests_.push_back(digest_of(sound.subspan(at, kSectorBytes)));
  digests_ = sound_digests_;
}

Result<void> TrialDisk::read(std::uint64_t lba, std::span<std::byte> into) const {
  if (auto inside = check_range(sectors(), lba, into.size() / kSectorBytes); !inside) return inside;
  std::memcpy(into.data(), current_.data() + lba * kSectorBytes, into.size());
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
  if (auto inside = check_range(sectors(), lba, count); !inside) return inside;
  std::memcpy(current_.data() + lba * kSectorBytes, data.data(), data.size());
  changed(lba, count);
  return {};
}

Result<void> TrialDisk::write_zeroes(std::uint64_t lba, std::uint64_t count) {
  if (auto inside = check_range(sectors(), lba, count); !inside) return inside;
  std::memset(current_.data() + lba * kSectorBytes, 0, count * kSectorBytes);
  changed(lba, count);
  return {};
}

void TrialDisk::show_base() {
  for (const std::uint64_t sector : changed_) {
    std::memcpy(current_.data() + sector * kSectorBytes, sound_.data() + sector * kSectorBytes, kSectorBytes);
    digests_[sector] = sound_digests_[sector];
    is_changed_[sector] = false;
  }
  changed_.clear();
}

}  // namespace headcrash::ufs::damage
