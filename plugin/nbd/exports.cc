// Connections and requests: nbdkit's callbacks over an Emulation. No behaviour of its own: each callback
// checks its arguments, calls one function, and turns the answer into an errno.
#include <algorithm>
#include <bit>
#include <cstring>

#include "plugin/nbd/server.h"

namespace headcrash::nbd {
namespace {

using model::kSectorBytes;

constexpr std::uint32_t kMarkExportBytes = 4096;
constexpr std::uint32_t kMaximumRequestBytes = 32U << 20;
constexpr std::uint32_t kPreferredBytesMin = 4096;
constexpr const char* kMarkExport = "mark";
constexpr std::string_view kDiskExportPrefix = "disk/";

/// What a connection is attached to.
struct Export {
  bool is_mark = false;
  std::size_t device = 0;
};
const Export& of(void* handle) {
  return *static_cast<const Export*>(handle);
}

std::optional<Export> find_export(std::string_view name) {
  const Emulation& emulation = *server->emulation;
  if (name.empty()) return Export{};
  if (name == kMarkExport) return Export{.is_mark = true};
  if (!name.starts_with(kDiskExportPrefix)) return std::nullopt;
  name.remove_prefix(kDiskExportPrefix.size());
  for (std::size_t index = 0; index < emulation.device_count(); ++index)
    if (emulation.device_name(index) == name) return Export{.device = index};
  return std::nullopt;
}

std::string describe(const Export& what) {
  if (what.is_mark) return "marks for the recording; reading gives the server's instance";
  const model::Characteristics& device = server->emulation->characteristics(what.device);
  const std::string& title = server->emulation->title(what.device);
  return "emulated " + device.profile + (title.empty() ? "" : " (" + title + ")") + ", " +
         std::to_string(device.sectors) + " sectors";
}

int on_list_exports(int, int, nbdkit_exports* exports) noexcept {
  return guarded([&] {
    const auto add = [&](const std::string& name, const Export& what) {
      return nbdkit_add_export(exports, name.c_str(), describe(what).c_str()) == 0;
    };
    bool added = add("", {});
    for (std::size_t index = 0; index < server->emulation->device_count(); ++index)
      added = added &&
              add(std::string(kDiskExportPrefix) + server->emulation->device_name(index), {.device = index});
    return added && add(kMarkExport, {.is_mark = true}) ? 0 : -1;
  });
}

const char* on_default_export(int, int) noexcept {
  return "";
}

const char* on_export_description(void* handle) noexcept {
  return guarded([&] { return nbdkit_strdup_intern(describe(of(handle)).c_str()); });
}

void* on_open(int) noexcept {
  return guarded([]() -> void* {
    const char* name = nbdkit_export_name();
    if (name == nullptr) return nullptr;
    const auto found = find_export(name);
    if (found) return std::make_unique<Export>(*found).release();
    nbdkit_error("export \"%.64s\": there is no such export; use \"\", \"disk/%s\" or \"%s\"", name,
                 server->emulation->device_name(0).c_str(), kMarkExport);
    return nullptr;
  });
}

void on_close(void* handle) noexcept {
  delete static_cast<Export*>(handle);
}

const model::Characteristics& characteristics(void* handle) {
  return server->emulation->characteristics(of(handle).device);
}

std::int64_t on_get_size(void* handle) noexcept {
  return of(handle).is_mark ? kMarkExportBytes
                            : static_cast<std::int64_t>(characteristics(handle).sectors * kSectorBytes);
}

/// The device's own wish where NBD can say it: a power of two, from 4 KiB to 32 MiB.
std::uint32_t preferred_bytes(const model::Characteristics& device) {
  const std::uint64_t optimal = std::uint64_t{device.optimal_sectors} * kSectorBytes;
  if (optimal >= kPreferredBytesMin && optimal <= kMaximumRequestBytes && std::has_single_bit(optimal))
    return static_cast<std::uint32_t>(optimal);
  return std::clamp<std::uint32_t>(device.physical_sector_sectors * kSectorBytes, kPreferredBytesMin, 65536);
}

int on_block_size(void* handle, std::uint32_t* minimum, std::uint32_t* preferred,
                  std::uint32_t* maximum) noexcept {
  const bool mark = of(handle).is_mark;
  *minimum = kSectorBytes;
  *preferred = mark ? kSectorBytes : preferred_bytes(characteristics(handle));
  *maximum = mark ? kMarkExportBytes : kMaximumRequestBytes;
  return 0;
}

int always(void*) noexcept {
  return 1;
}
int on_is_rotational(void* handle) noexcept {
  return !of(handle).is_mark && characteristics(handle).rotational;
}
int on_can_trim(void* handle) noexcept {
  return !of(handle).is_mark && characteristics(handle).trim;
}
int on_can_zero(void* handle) noexcept {
  return !of(handle).is_mark;
}
int on_can_fua(void*) noexcept {
  return NBDKIT_FUA_NATIVE;
}
int on_can_cache(void* handle) noexcept {
  return of(handle).is_mark ? NBDKIT_CACHE_NONE : NBDKIT_CACHE_NATIVE;
}
int on_can_extents(void* handle) noexcept {
  return !of(handle).is_mark && server->emulation->written(of(handle).device) != nullptr;
}

// ---- requests
// ----------------------------------------------------------------------------------------------------

/// A drive moves whole sectors; EINVAL is what it would say to anything else.
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

model::Request request(model::Op op, std::uint32_t count, std::uint64_t offset, std::uint32_t flags) {
  model::Request made;
  made.op = op;
  made.fua = (flags & NBDKIT_FLAG_FUA) != 0;
  made.lba = offset / kSectorBytes;
  made.sectors = count / kSectorBytes;
  return made;
}

int serve(void* handle, const model::Request& what) {
  return answer_errno(server->emulation->serve(of(handle).device, what));
}

/// Trims, and with fua makes that durable.
int serve_trim(void* handle, const model::Request& trim) {
  model::Request plain = trim;
  plain.fua = false;
  if (trim.sectors > 0 && serve(handle, plain) != 0) return -1;
  return trim.fua ? serve(handle, request(model::Op::flush, 0, 0, 0)) : 0;
}

int read_instance(void* buffer, std::uint32_t count, std::uint64_t offset) {
  const std::string& text = server->emulation->instance();
  std::memset(buffer, 0, count);
  if (offset < text.size())
    std::memcpy(buffer, text.data() + offset, std::min<std::size_t>(count, text.size() - offset));
  return 0;
}

int write_mark(const void* buffer, std::uint32_t count) {
  const auto* text = static_cast<const char*>(buffer);
  const std::size_t length = strnlen(text, count);
  if (length == 0 || length > kMarkBytesMax) {
    nbdkit_error("mark: the text has %zu bytes; write 1 to %zu bytes and a NUL", length, kMarkBytesMax);
    return answer_errno(EINVAL);
  }
  server->emulation->mark({text, length});
  return 0;
}

int on_pread(void* handle, void* buffer, std::uint32_t count, std::uint64_t offset,
             std::uint32_t flags) noexcept {
  return guarded([&] {
    if (!is_aligned(count, offset)) return -1;
    if (of(handle).is_mark) return read_instance(buffer, count, offset);
    model::Request read = request(model::Op::read, count, offset, flags);
    read.into = {static_cast<std::byte*>(buffer), count};
    return serve(handle, read);
  });
}

int on_pwrite(void* handle, const void* buffer, std::uint32_t count, std::uint64_t offset,
              std::uint32_t flags) noexcept {
  return guarded([&] {
    if (!is_aligned(count, offset)) return -1;
    if (of(handle).is_mark) return write_mark(buffer, count);
    model::Request write = request(model::Op::write, count, offset, flags);
    write.data = {static_cast<const std::byte*>(buffer), count};
    return serve(handle, write);
  });
}

/// A device that can trim zeroes by trimming, when the client does not mind: what is trimmed reads as zeroes.
/// A client that only wants it fast hears at once when it is not.
int on_zero(void* handle, std::uint32_t count, std::uint64_t offset, std::uint32_t flags) noexcept {
  return guarded([&] {
    if (!is_aligned(count, offset)) return -1;
    const model::Characteristics& device = characteristics(handle);
    const bool by_trim = (flags & NBDKIT_FLAG_MAY_TRIM) != 0 && device.trim;
    if ((flags & NBDKIT_FLAG_FAST_ZERO) != 0 && !device.fast_zero && !by_trim) return answer_errno(ENOTSUP);
    if (!by_trim) return serve(handle, request(model::Op::write_zeroes, count, offset, flags));
    return serve_trim(handle, request(model::Op::trim, count, offset, flags));
  });
}

int on_flush(void* handle, std::uint32_t) noexcept {
  return guarded([&] { return of(handle).is_mark ? 0 : serve(handle, request(model::Op::flush, 0, 0, 0)); });
}

/// Trims what whole sectors of the range there are: a trim is only advice.
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

/// Into the drive's cache: a read whose data nobody fetches.
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

/// Takes no model time: the host asks the server, not the drive.
int on_extents(void* handle, std::uint32_t count, std::uint64_t offset, std::uint32_t flags,
               nbdkit_extents* extents) noexcept {
  return guarded([&] {
    const WrittenMap& written = *server->emulation->written(of(handle).device);
    std::uint64_t lba = offset / kSectorBytes;
    const std::uint64_t end = (offset + count + kSectorBytes - 1) / kSectorBytes;
    while (lba < end) {
      const WrittenMap::Run run = written.run(lba, end - lba);
      const std::uint32_t type = run.written ? 0 : NBDKIT_EXTENT_HOLE | NBDKIT_EXTENT_ZERO;
      if (nbdkit_add_extent(extents, lba * kSectorBytes, run.sectors * kSectorBytes, type) != 0) return -1;
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
  p.can_fast_zero = on_can_zero;  // the promise is to be fast or to refuse at once
  p.can_fua = on_can_fua;
  p.can_cache = on_can_cache;
  p.can_extents = on_can_extents;
  p.can_multi_conn = always;  // one cache and one medium behind all connections
  p.pread = on_pread;
  p.pwrite = on_pwrite;
  p.flush = on_flush;
  p.trim = on_trim;
  p.zero = on_zero;
  p.cache = on_cache;
  p.extents = on_extents;
}

}  // namespace headcrash::nbd
