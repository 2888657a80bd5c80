#include "plugin/record/checkpoint.h"

#include "plugin/record/event_format.h"

namespace headcrash::record {
namespace {

struct Head {
  std::uint64_t events, last_at, last_request, devices;
};
struct CheckpointExtent {
  std::uint64_t lba, where, sectors;
};

template <typename Fixed>
void put(std::vector<std::byte>& into, const Fixed& fixed) {
  const auto bytes = bytes_of(fixed);
  into.insert(into.end(), bytes.begin(), bytes.end());
}

template <typename Fixed>
bool get(std::span<const std::byte>& from, Fixed& fixed) {
  if (from.size() < sizeof(fixed)) return false;
  std::memcpy(&fixed, from.data(), sizeof(fixed));
  from = from.subspan(sizeof(fixed));
  return true;
}

bool sound(const CheckpointExtent& extent, std::uint64_t sectors, std::uint64_t log_bytes) {
  if (extent.sectors == 0 || extent.sectors > ExtentIndex::kChunkSectors || extent.lba > sectors ||
      extent.sectors > sectors - extent.lba)
    return false;
  const std::uint64_t offset = ExtentLocation::from_word(extent.where).offset();
  return offset <= log_bytes &&
         (offset == 0 || extent.sectors * model::kSectorBytes <= log_bytes - offset);
}

}  // namespace

std::optional<std::vector<std::byte>> encode_checkpoint(const Checkpoint& checkpoint,
                                                        std::span<const ExtentIndex> media) {
  std::uint64_t bytes = sizeof(Head);
  for (const ExtentIndex& index : media)
    bytes += sizeof(std::uint64_t) + index.extents() * sizeof(CheckpointExtent);
  if (bytes > kPayloadBytesMax) return std::nullopt;
  std::vector<std::byte> payload;
  payload.reserve(bytes);
  put(payload, Head{checkpoint.events, static_cast<std::uint64_t>(checkpoint.last_at),
                    checkpoint.last_request, media.size()});
  for (const ExtentIndex& index : media) {
    put(payload, index.extents());
    index.visit(0, index.sectors(),
                [&](std::uint64_t lba, std::uint64_t sectors, ExtentLocation where) {
                  put(payload, CheckpointExtent{lba, where.word(), sectors});
                });
  }
  return payload;
}

std::optional<Checkpoint> decode_checkpoint(std::span<const std::byte> payload,
                                            std::uint64_t log_bytes, std::span<ExtentIndex> media) {
  Head head{};
  if (!get(payload, head) || head.devices != media.size() || head.events > kRequestIdMax ||
      head.last_at > static_cast<std::uint64_t>(kTimeMax) || head.last_request > kRequestIdMax)
    return std::nullopt;
  for (ExtentIndex& index : media) {
    std::uint64_t extents = 0;
    if (!get(payload, extents)) return std::nullopt;
    for (; extents > 0; --extents) {
      CheckpointExtent extent{};
      if (!get(payload, extent) || !sound(extent, index.sectors(), log_bytes)) return std::nullopt;
      index.assign(extent.lba, extent.sectors, ExtentLocation::from_word(extent.where));
    }
  }
  if (!payload.empty()) return std::nullopt;
  return Checkpoint{head.events, static_cast<model::TimeNs>(head.last_at), head.last_request};
}

}  // namespace headcrash::record
