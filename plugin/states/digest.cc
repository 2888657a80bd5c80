#include "plugin/states/digest.h"

#include <array>
#include <cstring>

#include "plugin/model/core/store.h"

namespace headcrash::states {
namespace {

__extension__ typedef unsigned __int128 Product;

constexpr std::array<std::uint64_t, 4> kKeys = {0x9e3779b97f4a7c15U, 0xbf58476d1ce4e5b9U,
                                                0x94d049bb133111ebU, 0xd6e8feb86659fd93U};
constexpr std::uint64_t kUnreadable = 0x632be59bd9b4e019U;
constexpr std::uint64_t kPrior = 0xa0761d6478bd642fU;

std::uint64_t sector_hash(std::uint64_t lba, const std::byte* bytes) {
  std::uint64_t first = kKeys[0];
  std::uint64_t second = kKeys[1];
  std::uint64_t any = 0;
  for (std::size_t at = 0; at < model::kSectorBytes; at += 32) {
    std::array<std::uint64_t, 4> words;
    std::memcpy(words.data(), bytes + at, sizeof(words));
    any |= words[0] | words[1] | words[2] | words[3];
    first = mix(first ^ words[0], words[1] ^ kKeys[2]);
    second = mix(second ^ words[2], words[3] ^ kKeys[3]);
  }
  return any == 0 ? 0 : mix(mix(first, second ^ kKeys[2]) ^ kKeys[3], lba ^ kKeys[0]);
}

}  // namespace

std::uint64_t mix(std::uint64_t one, std::uint64_t other) {
  const Product product = static_cast<Product>(one) * other;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

std::uint64_t digest_sum(std::uint64_t lba, std::span<const std::byte> bytes) {
  std::uint64_t sum = 0;
  for (std::size_t at = 0; at < bytes.size(); at += model::kSectorBytes)
    sum += sector_hash(lba++, bytes.data() + at);
  return sum;
}

std::uint64_t unreadable_sum(std::uint64_t lba, std::uint64_t sectors) {
  std::uint64_t sum = 0;
  for (const std::uint64_t end = lba + sectors; lba < end; ++lba)
    sum += mix(lba ^ kKeys[1], kUnreadable);
  return sum;
}

std::uint64_t prior_sum(std::uint64_t lba, std::uint64_t sectors) {
  std::uint64_t sum = 0;
  for (const std::uint64_t end = lba + sectors; lba < end; ++lba)
    sum += mix(lba ^ kKeys[2], kPrior);
  return sum;
}

}  // namespace headcrash::states
