// Writes and recognises stamps. stamp.h describes their layout.
#include "harness/workload/stamp.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "plugin/base/fnv1a.h"

namespace headcrash::workload {
namespace {

constexpr std::uint64_t kMagic =
    0x31504d5453434800;  // "\0HCSTMP1" in memory; because of the NUL, no text file begins like this
constexpr std::uint64_t kMagicBeforeMkfs = 0x524f495250434800;  // "\0HCPRIOR" in memory

std::uint64_t split_mix(std::uint64_t& state) {
  std::uint64_t z = (state += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

/// Writes a stamp, or as much of it as fits into the block: the three header words, and then
/// pseudorandom words derived from the second and third header words.
void write_block(const std::array<std::uint64_t, 3>& header, std::span<std::byte> block) {
  std::array<std::uint64_t, kStampBytes / 8> words;
  std::copy(header.begin(), header.end(), words.begin());
  std::uint64_t state = words[1] * 0xff51afd7ed558ccd ^ words[2];
  std::generate(words.begin() + 3, words.end(), [&] { return split_mix(state); });
  std::memcpy(block.data(), words.data(), std::min(block.size(), kStampBytes));
}

}  // namespace

void write_stamp(const Stamp& stamp, std::span<std::byte> block) {
  write_block({kMagic, stamp.file | static_cast<std::uint64_t>(stamp.version) << 32, stamp.block},
              block);
}

void write_before_mkfs(std::uint64_t first_sector, std::span<std::byte> data) {
  for (std::size_t done = 0; done < data.size(); done += kStampBytes) {
    const std::size_t length = std::min(kStampBytes, data.size() - done);
    write_block({kMagicBeforeMkfs, 0, first_sector + done / kStampBytes},
                data.subspan(done, length));
  }
}

void write_stamps(std::uint32_t file, std::uint32_t version, std::uint64_t offset,
                  std::span<std::byte> data) {
  for (std::size_t done = 0; done < data.size();) {
    const std::size_t begins = (offset + done) % kStampBytes;
    const std::size_t length = std::min(kStampBytes - begins, data.size() - done);
    const Stamp stamp{file, version, (offset + done) / kStampBytes};
    const std::span<std::byte> into = data.subspan(done, length);
    done += length;
    if (begins == 0) {
      write_stamp(stamp, into);
      continue;
    }
    std::array<std::byte, kStampBytes> whole;
    write_stamp(stamp, whole);
    std::copy_n(whole.begin() + static_cast<std::ptrdiff_t>(begins), length, into.begin());
  }
}

BlockContent read_stamp(std::span<const std::byte> block) {
  if (std::all_of(block.begin(), block.end(), [](std::byte b) { return b == std::byte{0}; }))
    return Zeroes{};
  if (block.size() < kStampHeaderBytes || block.size() > kStampBytes) return Foreign{};
  std::array<std::uint64_t, 3> header;
  std::memcpy(header.data(), block.data(), sizeof header);
  if (header[0] != kMagic && header[0] != kMagicBeforeMkfs) return Foreign{};
  std::array<std::byte, kStampBytes> wanted;
  write_block(header, wanted);
  if (!std::equal(block.begin(), block.end(), wanted.begin())) return Foreign{};
  if (header[0] == kMagicBeforeMkfs) return BeforeMkfs{header[2]};
  return Stamp{static_cast<std::uint32_t>(header[1]), static_cast<std::uint32_t>(header[1] >> 32),
               header[2]};
}

std::uint64_t block_digest(std::span<const std::byte> block) {
  return std::max<std::uint64_t>(base::fnv1a(block), 1);
}

}  // namespace headcrash::workload
