// Copies a stage over a separate NBD connection (stage_copy.h). Queries the block status, then
// reads only allocated ranges.
#include "harness/explorer/guests/stage_copy.h"

#include <libnbd.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "harness/explorer/guests/sparse_file.h"

namespace headcrash::explorer {
namespace {

constexpr std::uint64_t kReadBytes = 4 << 20;
constexpr std::uint64_t kStatusBytes = 1ULL << 31;  // bytes per request; less than NBD's limit
constexpr std::uint32_t kHole =
    1;  // NBD_STATE_HOLE of base:allocation: the contents are zeroes, or bytes from before mkfs

struct Range {
  std::uint64_t offset = 0, bytes = 0;
};

tl::unexpected<Error> nbd_failed(const std::string& what) {
  const char* words = ::nbd_get_error();
  return fail("stage", what + ": " + (words == nullptr ? "libnbd gives no reason" : words));
}

}  // namespace

struct StageCopier::Connection {
  nbd_handle* nbd = nullptr;
  std::uint64_t bytes = 0;

  Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() {
    if (nbd != nullptr) ::nbd_close(nbd);
  }
  Result<std::vector<Range>> allocated() const;
};

/// Returns the allocated ranges in ascending order. The server's answer may cover less than the
/// requested range, so several requests may be necessary.
Result<std::vector<Range>> StageCopier::Connection::allocated() const {
  struct Seen {
    std::vector<Range> ranges;
    std::uint64_t next = 0, end = 0;
  } seen;
  while (seen.next < bytes) {
    const std::uint64_t before = seen.next;
    seen.end = std::min(bytes, seen.next + kStatusBytes);
    const auto on_extents = [](void* user, const char*, std::uint64_t, std::uint32_t* entries,
                               std::size_t count, int*) -> int {
      auto& into = *static_cast<Seen*>(user);
      for (std::size_t i = 0; i + 1 < count && into.next < into.end; i += 2) {
        const std::uint64_t length = std::min<std::uint64_t>(entries[i], into.end - into.next);
        if ((entries[i + 1] & kHole) == 0) into.ranges.push_back({into.next, length});
        into.next += length;
      }
      return 0;
    };
    if (::nbd_block_status(nbd, seen.end - seen.next, seen.next,
                           {.callback = on_extents, .user_data = &seen, .free = nullptr}, 0) != 0) {
      return nbd_failed("its allocation cannot be queried");
    }
    if (seen.next == before) return fail("stage", "the server reports no block status");
  }
  return std::move(seen.ranges);
}

StageCopier::StageCopier(std::unique_ptr<Connection> connection)
    : connection_(std::move(connection)) {}
StageCopier::StageCopier(StageCopier&&) noexcept = default;
StageCopier& StageCopier::operator=(StageCopier&&) noexcept = default;
StageCopier::~StageCopier() = default;

Result<StageCopier> StageCopier::connect(const std::filesystem::path& socket,
                                         const std::string& export_name) {
  auto connection = std::make_unique<Connection>();
  connection->nbd = ::nbd_create();
  if (connection->nbd == nullptr) return nbd_failed("cannot create an NBD client");
  if (::nbd_set_export_name(connection->nbd, export_name.c_str()) != 0 ||
      ::nbd_add_meta_context(connection->nbd, LIBNBD_CONTEXT_BASE_ALLOCATION) != 0 ||
      ::nbd_connect_unix(connection->nbd, socket.c_str()) != 0) {
    return nbd_failed("cannot be attached");
  }
  const std::int64_t bytes = ::nbd_get_size(connection->nbd);
  if (bytes < 0) return nbd_failed("its size cannot be queried");
  connection->bytes = static_cast<std::uint64_t>(bytes);
  return StageCopier(std::move(connection));
}

Result<base::Descriptor> StageCopier::copy() {
  auto file = make_sparse_file(connection_->bytes);
  if (!file) return file;
  TRY(const auto allocated, connection_->allocated());
  std::vector<std::byte> buffer;
  for (Range range : allocated) {
    while (range.bytes > 0) {
      buffer.resize(std::min(range.bytes, kReadBytes));
      if (::nbd_pread(connection_->nbd, buffer.data(), buffer.size(), range.offset, 0) != 0)
        return nbd_failed("cannot be read");
      TRY(write_sparse(*file, range.offset, buffer));
      range.offset += buffer.size();
      range.bytes -= buffer.size();
    }
  }
  return file;
}

Result<void> StageCopier::change(const states::StateImage& image, const base::Descriptor& copy) {
  return visit_changes(
      image, copy,
      [&](std::uint64_t offset, std::span<const std::byte> bytes) -> Result<void> {
        if (::nbd_pwrite(connection_->nbd, bytes.data(), bytes.size(), offset, 0) != 0)
          return nbd_failed("cannot be written");
        return {};
      },
      Unwritten::as_on_the_disk);
}

}  // namespace headcrash::explorer
