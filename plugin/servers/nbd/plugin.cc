// nbdkit-headcrash-plugin: its life cycle. Connections and requests are in callbacks.cc.
//
// config* -> config_complete (profiles) -> get_ready (store, recording, socket; may fail) -> [fork]
// -> after_fork (threads) -> requests -> cleanup (threads joined, disk shut down, socket removed)
// -> unload.
#include <fmt/core.h>
#include <signal.h>

#include <algorithm>
#include <cstdio>

#include "plugin/profiles/profile.h"
#include "plugin/servers/nbd/server.h"
#include "plugin/servers/nbd/thread_count.h"
#include "plugin/stages/order.h"

#define THREAD_MODEL NBDKIT_THREAD_MODEL_PARALLEL

namespace headcrash::nbd {

Server* server = nullptr;

namespace {

/// Maximum number of requests that an NBD client is assumed to keep in flight.
constexpr std::uint32_t kQueueDepthToServe = 64;
constexpr const char* kMagicKey = "profile";

// ---- configuration

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

/// Makes a path absolute, because nbdkit changes its working directory when it goes to the
/// background.
bool make_absolute(std::filesystem::path& path) {
  char* absolute = nbdkit_absolute_path(path.c_str());
  if (absolute == nullptr) return false;
  path = absolute;
  free(absolute);
  return true;
}

int on_config_complete() noexcept {
  return guarded([] {
    emulation::Settings& settings = server->settings;
    if (auto complete = settings.check(); !complete) return refuse(complete.error());
    for (const emulation::Parameter& row : emulation::parameters()) {
      if (row.path == nullptr) continue;
      auto& path = settings.*row.path;
      if (path && !make_absolute(*path)) return -1;
    }
    if (settings.states) return 0;
    auto hardware = emulation::load_hardware(settings);
    if (!hardware) return refuse(hardware.error());
    server->hardware = std::move(*hardware);
    return 0;
  });
}

/// Warns if nbdkit has fewer threads than a device's queue depth.
void warn_of_few_threads() {
  emulation::Emulation& emulation = server->machine->emulation();
  const unsigned threads = threads_of_this_nbdkit();
  emulation.set_threads(threads);
  for (std::size_t index = 0; index < emulation.device_count(); ++index) {
    const std::uint32_t depth =
        std::min(emulation.characteristics(index).queue_depth, kQueueDepthToServe);
    if (threads == 0 || threads >= depth) continue;
    fmt::print(
        stderr,
        "nbdkit: headcrash: {} schedules up to {} requests together, but nbdkit serves {} per "
        "connection; use "
        "-t {}\n",
        emulation.device_name(index), depth, threads, depth);
  }
}

int open_machine() {
  auto machine = emulation::ServedMachine::open(server->settings, std::move(*server->hardware));
  if (!machine) return refuse(machine.error());
  server->machine = std::move(*machine);
  server->exports = exports_of(server->machine->emulation());
  warn_of_few_threads();
  return 0;
}

int open_stages() {
  const emulation::Settings& settings = server->settings;
  auto control = emulation::listen_for_control(settings);
  if (!control) return refuse(control.error());
  auto stages = stages::StageServer::create({.stages = *settings.states,
                                             .overlay_bytes_max = settings.overlay_bytes_max,
                                             .recording = settings.recording});
  if (!stages) {
    Error error = stages.error();
    error.subject = "recording=" + error.subject;
    return refuse(error);
  }
  if (settings.virtual_time) {
    auto served = timetravel::ServedStages::listen(*settings.virtual_time, *settings.states);
    if (!served) return refuse(served.error());
    server->virtual_stages = std::move(*served);
  }
  server->stages = std::move(*stages);
  server->control = std::move(*control);
  server->exports = exports_of(*server->stages);
  return 0;
}

int on_get_ready() noexcept {
  return guarded([] { return server->settings.states ? open_stages() : open_machine(); });
}

// ---- threads

/// Detects a signal that is to end the server. nbdkit waits for the requests in progress before it
/// exits, and plugins can detect a signal only through nbdkit_nanosleep. This function is called
/// only when a request has been waiting for a long time, because nbdkit_nanosleep logs a message
/// when it is interrupted.
void watch_for_the_end() {
  while (server->machine->emulation().wait_for_long_request()) {
    if (nbdkit_nanosleep(0, 50'000'000) == 0) continue;
    server->machine->shut_down();
    return;
  }
}

/// Blocks all signals in this thread until destruction. Threads started in the meantime inherit the
/// mask, so only nbdkit's own threads receive signals.
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

int start_stages() {
  const auto log = [](const std::string& line) {
    fmt::print(stderr, "nbdkit: headcrash: {}\n", line);
  };
  if (server->virtual_stages)
    if (const auto started = server->virtual_stages->start(*server->stages, log); !started)
      return refuse(started.error());
  if (server->control)
    server->control->start([](std::string_view line, const std::function<bool()>&) {
      return stages::answer(*server->stages, line);
    });
  return 0;
}

int on_after_fork() noexcept {
  return guarded([] {
    const SignalsBlocked blocked;
    if (server->stages) return start_stages();
    server->machine->start(emulation::Transport::nbd);
    server->watcher = std::thread(watch_for_the_end);
    return 0;
  });
}

void on_cleanup() noexcept {
  guarded([] {
    server->control.reset();
    if (server->machine)
      if (const auto stopped = server->machine->stop(); !stopped) refuse(stopped.error());
    if (server->watcher.joinable()) server->watcher.join();
    server->exports.reset();
    server->machine.reset();
    server->virtual_stages.reset();
    server->stages.reset();
  });
}

void on_dump_plugin() noexcept {
  guarded([] {
    std::printf("headcrash_profiles=");
    for (const char* separator = ""; const auto& stack : profiles::list_profiles()) {
      std::printf("%s%s", separator, stack.name.c_str());
      separator = " ";
    }
    std::printf("\nheadcrash_clocks=real real:K off\n");
    std::printf("headcrash_exports=disk/hd0 mark\n");
    std::printf("headcrash_state_exports=stage/N mark/N state/ID\n");
    std::printf("headcrash_stages_max=%zu\n", stages::kStagesMax);
    std::printf("headcrash_recording_version=2\n");
  });
}

std::string help_text() {
  std::string text;
  for (const emulation::Parameter& row : emulation::parameters()) {
    const std::string name =
        row.name == kMagicKey ? fmt::format("[{}=]", row.name) : fmt::format("{}=", row.name);
    text += fmt::format("{:<24} {}.\n", fmt::format("{}{}", name, row.value), row.help);
  }
  return text + "Use nbdkit -t N, with N at least the client's queue depth (default: 16).";
}

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
  static const std::string help = help_text();
  p.config_help = help.c_str();
  p.magic_config_key = kMagicKey;
  p.dump_plugin = on_dump_plugin;
  p.get_ready = on_get_ready;
  p.after_fork = on_after_fork;
  p.cleanup = on_cleanup;
  add_export_callbacks(p);
  return p;
}

struct nbdkit_plugin plugin = make_plugin();

}  // namespace
}  // namespace headcrash::nbd

using headcrash::nbd::plugin;
NBDKIT_REGISTER_PLUGIN(plugin)
