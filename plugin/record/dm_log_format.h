#pragma once
// The fixed structures of the dm-log-writes format (dm_log_writes.h).

#include <cstdint>
#include <string_view>

namespace headcrash::record::dm_log {

inline constexpr std::uint64_t kMagic = 0x6a736677736872ULL;
inline constexpr std::uint64_t kVersion = 1;
inline constexpr std::uint64_t kFlush = 1, kFua = 2, kDiscard = 4, kMark = 8, kMetadata = 16;
inline constexpr std::uint64_t kAllFlags = 31;
/// Text of the last mark that the target writes.
inline constexpr std::string_view kEndMark = "dm-log-writes-end";
inline constexpr std::uint32_t kSectorSizeMax = 64 << 10;

struct Super {
  std::uint64_t magic = kMagic;
  std::uint64_t version = kVersion;
  std::uint64_t entries = 0;
  std::uint32_t sector_size = 512;
  std::uint32_t unused = 0;
};

struct Entry {
  std::uint64_t sector = 0;
  std::uint64_t sectors = 0;
  std::uint64_t flags = 0;
  std::uint64_t data_bytes = 0;
};
static_assert(sizeof(Super) == 32 && sizeof(Entry) == 32);

}  // namespace headcrash::record::dm_log
