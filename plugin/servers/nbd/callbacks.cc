// Implements nbdkit's callbacks for connections and requests on top of an Export. Each callback
// checks its arguments, calls one function, and converts the answer to an errno.
#include <algorithm>
#include <cstring>

#include "plugin/servers/nbd/export.h"
#include "plugin/servers/nbd/server.h"

namespace headcrash::nbd {
namespace {

using model::kSectorBytes;

Export& of(void* handle) {
  return *static_cast<Export*>(handle);
}
const ExportTraits& traits(void* handle) {
  return of(handle).traits();
}

int on_list_exports(int, int, nbdkit_exports* exports) noexcept {
  return guarded([&] {
    for (const ListedExport& one : server->exports->list())
      if (nbdkit_add_export(exports, one.name.c_str(), one.description.c_str()) != 0) return -1;
    return 0;
  });
}

const char* on_default_export(int, int) noexcept {
  return guarded([] { return nbdkit_strdup_intern(server->exports->default_name().c_str()); });
}

const char* on_export_description(void* handle) noexcept {
  return guarded([&] { return nbdkit_strdup_intern(of(handle).description().c_str()); });
}

void* on_open(int) noexcept {
  return guarded([]() -> void* {
    const char* name = nbdkit_export_name();
    if (name == nullptr) return nullptr;
    auto opened = server->exports->open(name);
    if (opened) return opened->release();
    refuse(opened.error());
    return nullptr;
  });
}

void on_close(void* handle) noexcept {
  delete static_cast<Export*>(handle);
}

std::int64_t on_get_size(void* handle) noexcept {
  return static_cast<std::int64_t>(traits(handle).bytes);
}

int on_block_size(void* handle, std::uint32_t* minimum, std::uint32_t* preferred,
                  std::uint32_t* maximum) noexcept {
  *minimum = kSectorBytes;
  *preferred = traits(handle).preferred_bytes;
  *maximum = traits(handle).maximum_bytes;
  return 0;
}

int always(void*) noexcept {
  return 1;
}
int on_is_rotational(void* handle) noexcept {
  return traits(handle).rotational;
}
int on_can_trim(void* handle) noexcept {
  return traits(handle).trim;
}
int on_can_zero(void* handle) noexcept {
  return traits(handle).zero;
}
int on_can_fua(void*) noexcept {
  return NBDKIT_FUA_NATIVE;
}
int on_can_cache(void* handle) noexcept {
  return traits(handle).cache ? NBDKIT_CACHE_NATIVE : NBDKIT_CACHE_NONE;
}
int on_can_extents(void* handle) noexcept {
  return traits(handle).extents;
}
int on_can_multi_conn(void* handle) noexcept {
  return traits(handle).shared;
}

// ---- requests

/// Returns true if the range consists of whole sectors. A drive transfers only whole sectors, so
/// other requests fail with EINVAL.
bool is_aligned(std::uint32_t count, std::uint64_t offset) {
  if ((count | offset) % kSectorBytes == 0) return true;
  nbdkit_error(
      "a request of %u bytes at %llu is not a whole number of %u-byte sectors; use a client that respects "
      "block "
      "sizes, or --filter=blocksize minblock=%u",
      count, static_cast<unsigned long long>(offset), kSectorBytes, kSectorBytes);
  nbdkit_set_error(EINVAL);
  return false;
}

model::Request request(model::Op op, std::uint32_t count, std::uint64_t offset,
                       std::uint32_t flags) {
  model::Request made;
  made.op = op;
  made.fua = (flags & NBDKIT_FLAG_FUA) != 0;
  made.lba = offset / kSectorBytes;
  made.sectors = count / kSectorBytes;
  return made;
}

int serve(void* handle, const model::Request& what) {
  const emulation::Answer answer = of(handle).serve(what);
  if (answer.error == 0) return 0;
  if (const auto line = server->failures.note(of(handle).name(), what, answer.cause))
    nbdkit_error("%s", line->c_str());
  return answer_errno(answer.error);
}

/// Serves a trim, followed by a flush if FUA is set.
int serve_trim(void* handle, const model::Request& trim) {
  model::Request plain = trim;
  plain.fua = false;
  if (trim.sectors > 0 && serve(handle, plain) != 0) return -1;
  return trim.fua ? serve(handle, request(model::Op::flush, 0, 0, 0)) : 0;
}

int on_pread(void* handle, void* buffer, std::uint32_t count, std::uint64_t offset,
             std::uint32_t flags) noexcept {
  return guarded([&] {
    if (!is_aligned(count, offset)) return -1;
    model::Request read = request(model::Op::read, count, offset, flags);
    read.into = {static_cast<std::byte*>(buffer), count};
    return serve(handle, read);
  });
}

int on_pwrite(void* handle, const void* buffer, std::uint32_t count, std::uint64_t offset,
              std::uint32_t flags) noexcept {
  return guarded([&] {
    if (!is_aligned(count, offset)) return -1;
    model::Request write = request(model::Op::write, count, offset, flags);
    write.data = {static_cast<const std::byte*>(buffer), count};
    return serve(handle, write);
  });
}

/// Serves a request to write zeroes. Trims instead if the device supports trims, the client permits
/// trims, and trimmed sectors read as zeroes. If the client requires a fast operation and none is
/// available, fails at once with ENOTSUP.
int on_zero(void* handle, std::uint32_t count, std::uint64_t offset, std::uint32_t flags) noexcept {
  return guarded([&] {
    if (!is_aligned(count, offset)) return -1;
    const ExportTraits& disk = traits(handle);
    const bool by_trim = (flags & NBDKIT_FLAG_MAY_TRIM) != 0 && disk.trim && disk.trim_zeroes;
    if ((flags & NBDKIT_FLAG_FAST_ZERO) != 0 && !disk.fast_zero && !by_trim)
      return answer_errno(ENOTSUP);
    if (!by_trim) return serve(handle, request(model::Op::write_zeroes, count, offset, flags));
    return serve_trim(handle, request(model::Op::trim, count, offset, flags));
  });
}

int on_flush(void* handle, std::uint32_t) noexcept {
  return guarded([&] { return serve(handle, request(model::Op::flush, 0, 0, 0)); });
}

/// Trims only the sectors that are completely in the range, which is sufficient because a trim is
/// advisory.
int on_trim(void* handle, std::uint32_t count, std::uint64_t offset, std::uint32_t flags) noexcept {
  return guarded([&] {
    const std::uint64_t first = (offset + kSectorBytes - 1) / kSectorBytes;
    const std::uint64_t end = std::max(first, (offset + count) / kSectorBytes);
    model::Request trim = request(model::Op::trim, 0, 0, flags);
    trim.lba = first;
    trim.sectors = static_cast<std::uint32_t>(end - first);
    return serve_trim(handle, trim);
  });
}

/// Reads the range into the drive's cache, without returning data to the client.
int on_cache(void* handle, std::uint32_t count, std::uint64_t offset, std::uint32_t) noexcept {
  return guarded([&] {
    const std::uint64_t first = offset / kSectorBytes;
    const std::uint64_t end = (offset + count + kSectorBytes - 1) / kSectorBytes;
    model::Request read = request(model::Op::read, 0, 0, 0);
    read.lba = first;
    read.sectors = static_cast<std::uint32_t>(end - first);
    return serve(handle, read);
  });
}

/// Reports extents. No model time passes, because the server answers without the drive.
int on_extents(void* handle, std::uint32_t count, std::uint64_t offset, std::uint32_t flags,
               nbdkit_extents* extents) noexcept {
  return guarded([&] {
    std::uint64_t lba = offset / kSectorBytes;
    const std::uint64_t end = (offset + count + kSectorBytes - 1) / kSectorBytes;
    while (lba < end) {
      const media::WrittenMap::Run run = of(handle).written(lba, end - lba);
      const std::uint32_t type =
          run.written ? 0 : NBDKIT_EXTENT_HOLE | (run.or_zeroes ? NBDKIT_EXTENT_ZERO : 0);
      if (nbdkit_add_extent(extents, lba * kSectorBytes, run.sectors * kSectorBytes, type) != 0)
        return -1;
      if ((flags & NBDKIT_FLAG_REQ_ONE) != 0) break;
      lba += run.sectors;
    }
    return 0;
  });
}

}  // namespace

void add_export_callbacks(struct nbdkit_plugin& p) {
  p.list_exports = on_list_exports;
  p.default_export = on_default_export;
  p.export_description = on_export_description;
  p.open = on_open;
  p.close = on_close;
  p.get_size = on_get_size;
  p.block_size = on_block_size;
  p.can_write = always;
  p.can_flush = always;
  p.is_rotational = on_is_rotational;
  p.can_trim = on_can_trim;
  p.can_zero = on_can_zero;
  // can_fast_zero promises that a request with the flag FAST_ZERO either is fast or fails at once.
  p.can_fast_zero = on_can_zero;
  p.can_fua = on_can_fua;
  p.can_cache = on_can_cache;
  p.can_extents = on_can_extents;
  p.can_multi_conn = on_can_multi_conn;
  p.pread = on_pread;
  p.pwrite = on_pwrite;
  p.flush = on_flush;
  p.trim = on_trim;
  p.zero = on_zero;
  p.cache = on_cache;
  p.extents = on_extents;
}

}  // namespace headcrash::nbd
