// Stamps: see stamp.h for the layout.
#include "harness/workload/stamp.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace headcrash::workload {
namespace {

constexpr std::uint64_t kMagic =
    0x31504d5453434800;  // "\0HCSTMP1" in memory: the NUL keeps it out of text files

std::uint64_t split_mix(std::uint64_t& state) {
  std::uint64_t z = (state += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

}  // namespace

void write_stamp(const Stamp& stamp, std::span<std::byte> block) {
  std::array<std::uint64_t, kStampBytes / 8> words;
  words[0] = kMagic;
  words[1] = stamp.file | static_cast<std::uint64_t>(stamp.version) << 32;
  words[2] = stamp.block;
  std::uint64_t state = words[1] * 0xff51afd7ed558ccd ^ stamp.block;
  std::generate(words.begin() + 3, words.end(), [&] { return split_mix(state); });
  std::memcpy(block.data(), words.data(), std::min(block.size(), kStampBytes));
}

void write_stamps(std::uint32_t file, std::uint32_t version, std::uint64_t offset,
                  std::span<std::byte> data) {
  for (std::size_t done = 0; done < data.size(); done += kStampBytes) {
    const std::size_t length = std::min(kStampBytes, data.size() - done);
    write_stamp({file, version, (offset + done) / kStampBytes}, data.subspan(done, length));
  }
}

BlockContent read_stamp(std::span<const std::byte> block) {
  if (std::all_of(block.begin(), block.end(), [](std::byte b) { return b == std::byte{0}; })) return Zeroes{};
  if (block.size() < kStampHeaderBytes || block.size() > kStampBytes) return Foreign{};
  std::array<std::uint64_t, 3> header;
  std::memcpy(header.data(), block.data(), sizeof header);
  const Stamp stamp{static_cast<std::uint32_t>(header[1]), static_cast<std::uint32_t>(header[1] >> 32),
                    header[2]};
  std::array<std::byte, kStampBytes> wanted;
  write_stamp(stamp, wanted);
  if (!std::equal(block.begin(), block.end(), wanted.begin())) return Foreign{};
  return stamp;
}

}  // namespace headcrash::workload
