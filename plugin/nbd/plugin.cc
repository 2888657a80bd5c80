// nbdkit-headcrash-plugin: nbdkit's callbacks over an Emulation. No behaviour of its own: each callback
// checks its arguments, calls one function, and turns the answer into an errno.
//
// Life: config* -> config_complete (profile) -> get_ready (store, recording, socket; may fail) -> [fork] ->
// after_fork (threads) -> requests -> cleanup (threads joined, disk parked, socket removed) -> unload.
// The state is a plain pointer and never destroyed by exit(): the parent of the fork exits too, and must not
// flush the recording or remove the socket that its child goes on with.
#define NBDKIT_API_VERSION 2
#include <nbdkit-plugin.h>
#include <signal.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <thread>

#include "plugin/nbd/control.h"
#include "plugin/nbd/control_socket.h"
#include "plugin/nbd/emulation.h"
#include "plugin/nbd/settings.h"
#include "plugin/profiles/profile.h"

#define THREAD_MODEL NBDKIT_THREAD_MODEL_PARALLEL

namespace headcrash::nbd {
namespace {

using model::kSectorBytes;

constexpr std::uint32_t kMarkExportBytes = 4096;
constexpr std::uint32_t kMaximumRequestBytes = 32U << 20;
constexpr const char* kMarkExport = "mark";
constexpr std::string_view kDiskExportPrefix = "disk/";

struct Server {
  Settings settings;
  std::optional<model::DiskProfile> profile;
  std::unique_ptr<Emulation> emulation;
  std::unique_ptr<ControlSocket> control;
  std::thread watcher;
};
Server* server = nullptr;

/// What a connection is attached to.
struct Export {
  bool is_mark = false;
  std::size_t device = 0;
};
const Export& of(void* handle) {
  return *static_cast<const Export*>(handle);
}

/// Runs a callback's body; no exception leaves it.
template <typename Body>
auto guarded(Body body) noexcept -> decltype(body()) {
  using Answer = decltype(body());
  try {
    return body();
  } catch (const std::exception& error) {
    nbdkit_error("headcrash: %s", error.what());
  } catch (...) {
    nbdkit_error("headcrash: an unknown exception");
  }
  if constexpr (std::is_pointer_v<Answer>) {
    return nullptr;
  } else if constexpr (!std::is_void_v<Answer>) {
    nbdkit_set_error(ENOMEM);
    return -1;
  }
}

int refuse(const Error& error) {
  nbdkit_error("%s", error.message().c_str());
  return -1;
}

int answer_errno(int error) {
  if (error == 0) return 0;
  nbdkit_set_error(error);
  return -1;
}

// ---- configuration
// -----------------------------------------------------------------------------------------------

void on_load() noexcept {
  guarded([] { server = std::make_unique<Server>().release(); });
}

void on_unload() noexcept {
  guarded([] {
    delete server;
    server = nullptr;
  });
}

int on_config(const char* key, const char* value) noexcept {
  return guarded([&] {
    const auto set = server->settings.set(key, value);
    return set ? 0 : refuse(set.error());
  });
}

/// nbdkit changes its directory when it goes to the background.
bool make_absolute(std::filesystem::path& path) {
  char* absolute = nbdkit_absolute_path(path.c_str());
  if (absolute == nullptr) return false;
  path = absolute;
  free(absolute);
  return true;
}

int on_config_complete() noexcept {
  return guarded([] {
    Settings& settings = server->settings;
    if (auto complete = settings.check(); !complete) return refuse(complete.error());
    for (auto* path : {&settings.store, &settings.record, &settings.control})
      if (*path && !make_absolute(**path)) return -1;
    auto profile = profiles::load_profile(settings.profile);
    if (!profile) {
      Error error = profile.error();
      error.subject = "profile=" + settings.profile + (error.subject.empty() ? "" : ": " + error.subject);
      return refuse(error);
    }
    server->profile = std::move(*profile);
    return 0;
  });
}

int on_get_ready() noexcept {
  return guarded([] {
    const Settings& settings = server->settings;
    if (settings.control) {
      auto control = ControlSocket::listen(*settings.control);
      if (!control) {
        Error error = control.error();
        error.subject = "control=" + error.subject;
        return refuse(error);
      }
      server->control = std::move(*control);
    }
    auto emulation = Emulation::create(settings, *server->profile);
    if (!emulation) {
      server->control.reset();
      return refuse(emulation.error());
    }
    server->emulation = std::move(*emulation);
    return 0;
  });
}

// ---- threads
// -----------------------------------------------------------------------------------------------------

/// nbdkit waits for running requests before it ends, and tells of a signal only through nbdkit_nanosleep. It
/// is asked only while some request has been waiting for long, because it complains when it is interrupted.
void watch_for_the_end() {
  while (server->emulation->wait_for_long_request()) {
    if (nbdkit_nanosleep(0, 50'000'000) == 0) continue;
    server->emulation->shut_down();
    return;
  }
}

/// Signals are for nbdkit's threads: ours, and those they start, have all blocked.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_ = {};
};

int on_after_fork() noexcept {
  return guarded([] {
    const SignalsBlocked blocked;
    server->emulation->start();
    server->watcher = std::thread(watch_for_the_end);
    if (server->control)
      server->control->start([](std::string_view line, const std::function<bool()>& given_up) {
        return answer(*server->emulation, line, given_up);
      });
    return 0;
  });
}

void on_cleanup() noexcept {
  guarded([] {
    server->control.reset();
    if (server->emulation) server->emulation->stop();
    if (server->watcher.joinable()) server->watcher.join();
    server->emulation.reset();
  });
}

// ---- exports
// -----------------------------------------------------------------------------------------------------

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
  return "emulated " + device.profile + ", " + std::to_string(device.sectors) + " sectors";
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

int on_block_size(void* handle, std::uint32_t* minimum, std::uint32_t* preferred,
                  std::uint32_t* maximum) noexcept {
  *minimum = kSectorBytes;
  if (of(handle).is_mark) {
    *preferred = kSectorBytes;
    *maximum = kMarkExportBytes;
    return 0;
  }
  *preferred =
      std::clamp<std::uint32_t>(characteristics(handle).physical_sector_sectors * kSectorBytes, 4096, 65536);
  *maximum = kMaximumRequestBytes;
  return 0;
}

int always(void*) noexcept {
  return 1;
}
int never(void*) noexcept {
  return 0;
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
int on_can_cache(void*) noexcept {
  return NBDKIT_CACHE_NONE;
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

int on_zero(void* handle, std::uint32_t count, std::uint64_t offset, std::uint32_t flags) noexcept {
  return guarded([&] {
    if (!is_aligned(count, offset)) return -1;
    return serve(handle, request(model::Op::write_zeroes, count, offset, flags));
  });
}

int on_flush(void* handle, std::uint32_t) noexcept {
  return guarded([&] { return of(handle).is_mark ? 0 : serve(handle, request(model::Op::flush, 0, 0, 0)); });
}

/// Trims what whole sectors of the range there are: a trim is only advice.
int on_trim(void* handle, std::uint32_t count, std::uint64_t offset, std::uint32_t flags) noexcept {
  return guarded([&] {
    const std::uint64_t first = (offset + kSectorBytes - 1) / kSectorBytes;
    const std::uint64_t end = (offset + count) / kSectorBytes;
    if (first < end) {
      model::Request trim = request(model::Op::trim, 0, 0, 0);
      trim.lba = first;
      trim.sectors = static_cast<std::uint32_t>(end - first);
      if (serve(handle, trim) != 0) return -1;
    }
    return (flags & NBDKIT_FLAG_FUA) != 0 ? serve(handle, request(model::Op::flush, 0, 0, 0)) : 0;
  });
}

void on_dump_plugin() noexcept {
  guarded([] {
    std::printf("headcrash_profiles=");
    for (const char* separator = ""; const auto& profile : profiles::list_profiles()) {
      std::printf("%s%s", separator, profile.name.c_str());
      separator = " ";
    }
    std::printf("\nheadcrash_clocks=real real:K off\n");
    std::printf("headcrash_exports=disk/hd0 mark\n");
    std::printf("headcrash_recording_version=1\n");
  });
}

constexpr const char* kHelp =
    "[profile=]PROFILE        Drive to emulate: a built-in name or a .toml file (required).\n"
    "size=SIZE                Serve only so much of it (default: the whole drive).\n"
    "store=DIR                Keep the bytes in this folder (default: in memory).\n"
    "clock=real|real:K|off    Requests take their modelled time, K times that, or none (default: real).\n"
    "write-cache=on|off       Volatile write cache of the drive (default: on if it has one).\n"
    "record=FILE              Record all that happens; the file must not exist.\n"
    "control=SOCKET           Listen for commands: power, clock, marks, statistics.\n"
    "cut=TRIGGER              Cut the power at after-writes:N, at-flush:N, after-ms:X or after-mark:TEXT+X.\n"
    "seed=N                   Decides what chance decides (default: 1).\n"
    "Use nbdkit -t with at least the client's queue depth (default 16).";

struct nbdkit_plugin make_plugin() noexcept {
  struct nbdkit_plugin p = {};
  p.name = "headcrash";
  p.longname = "headcrash emulated disk";
  p.version = HEADCRASH_VERSION;
  p.description = "An emulated disk in modelled time, with power cuts";
  p.load = on_load;
  p.unload = on_unload;
  p.config = on_config;
  p.config_complete = on_config_complete;
  p.config_help = kHelp;
  p.magic_config_key = "profile";
  p.dump_plugin = on_dump_plugin;
  p.get_ready = on_get_ready;
  p.after_fork = on_after_fork;
  p.cleanup = on_cleanup;
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
  p.can_fast_zero = never;  // a drive writes zeroes as slowly as anything else
  p.can_fua = on_can_fua;
  p.can_cache = on_can_cache;
  p.can_extents = never;
  p.can_multi_conn = always;  // one cache and one medium behind all connections
  p.pread = on_pread;
  p.pwrite = on_pwrite;
  p.flush = on_flush;
  p.trim = on_trim;
  p.zero = on_zero;
  return p;
}

struct nbdkit_plugin plugin = make_plugin();

}  // namespace
}  // namespace headcrash::nbd

using headcrash::nbd::plugin;
NBDKIT_REGISTER_PLUGIN(plugin)
