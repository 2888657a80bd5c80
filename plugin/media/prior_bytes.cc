#include "plugin/media/prior_bytes.h"

#include <array>
#include <cstring>

#include "plugin/base/random.h"
#include "plugin/model/core/store.h"

namespace headcrash::media {
namespace {

constexpr std::uint64_t kPriorMagic = 0x524f495250434800;  // "\0HCPRIOR" in memory

}  // namespace

void read_prior_bytes(std::uint64_t lba, std::span<std::byte> into) {
  for (; !into.empty(); into = into.subspan(model::kSectorBytes), ++lba) {
    std::array<std::uint64_t, model::kSectorBytes / 8> words{kPriorMagic, 0, lba};
    Random fill(lba);
    for (std::size_t i = 3; i < words.size(); ++i) words[i] = fill.next();
    std::memcpy(into.data(), words.data(), model::kSectorBytes);
  }
}

}  // namespace headcrash::media
