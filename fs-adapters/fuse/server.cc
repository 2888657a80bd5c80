// Serves requests on fibers (server.h).
#include "fs-adapters/fuse/server.h"

#include <linux/fuse.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "fs-adapters/fuse/operations.h"

namespace headcrash::fuse {
namespace {

constexpr std::size_t kRequestsMax = 64;

std::string words_of(Errno error) {
  return std::generic_category().message(error.value);
}

bool is_block_device(const std::string& path) {
  struct stat status = {};
  return ::stat(path.c_str(), &status) == 0 && S_ISBLK(status.st_mode);
}

/// Request buffers. libfuse allocates the memory of each buffer when the buffer is first used.
class RequestBuffers {
 public:
  RequestBuffers() {
    for (fuse_buf& buffer : buffers_) free_.push_back(&buffer);
  }
  ~RequestBuffers() {
    for (const fuse_buf& buffer : buffers_) std::free(buffer.mem);
  }
  RequestBuffers(const RequestBuffers&) = delete;
  RequestBuffers& operator=(const RequestBuffers&) = delete;

  fuse_buf* take() {
    std::unique_lock lock(mutex_);
    given_back_.wait(lock, [this] { return !free_.empty(); });
    fuse_buf* const buffer = free_.back();
    free_.pop_back();
    return buffer;
  }
  void give_back(fuse_buf* buffer) {
    {
      const std::scoped_lock lock(mutex_);
      free_.push_back(buffer);
    }
    given_back_.notify_one();
  }

 private:
  std::array<fuse_buf, kRequestsMax> buffers_ = {};
  std::vector<fuse_buf*> free_;
  std::mutex mutex_;
  std::condition_variable given_back_;
};

}  // namespace

struct Server::State {
  State(std::unique_ptr<RealMachine> its_machine,
        std::unique_ptr<adapters::MountedSystem> its_file_system)
      : machine(std::move(its_machine)),
        file_system(std::move(its_file_system)),
        idle(machine->system.executor) {}
  ~State();

  Result<void> attach(const ServeOptions& options);
  void read_requests();
  void begin(fuse_buf* buffer);
  void handle(const fuse_buf& buffer);
  void sync_everything(const fuse_in_header& request);
  void unmount();

  std::unique_ptr<RealMachine> machine;
  std::unique_ptr<adapters::MountedSystem> file_system;
  std::unique_ptr<Service> service;
  fuse_session* session = nullptr;
  bool attached = false;
  os::Account account{.name = "fuse"};
  RequestBuffers buffers;
  // Used only by the executor's thread.
  std::size_t active = 0;
  os::WaitQueue idle;  ///< woken whenever a request ends
  bool reader_ended = false;
  bool unmounted = false;
  Result<void> outcome;
};

Server::State::~State() {
  if (!unmounted && file_system) {
    machine->system.executor.spawn(os::Executor::Kind::user, account, [this] { unmount(); });
    machine->system.executor.run();
  }
  machine->system.executor.halt();
  file_system.reset();
  if (attached) fuse_session_unmount(session);
  if (session != nullptr) fuse_session_destroy(session);
}

Result<void> Server::State::attach(const ServeOptions& options) {
  service =
      std::make_unique<Service>(Service{.vfs = file_system->vfs(),
                                        .now_ns = [this] { return machine->system.executor.now(); },
                                        .unmount = [this] { unmount(); },
                                        .write_back_cache = options.write_back_cache,
                                        .nodes = {}});
  VfsResult<void> root;
  machine->system.executor.spawn(os::Executor::Kind::user, account,
                                 [&] { root = find_root(*service); });
  machine->system.executor.run();
  if (!root)
    return fail(options.device, "has no root directory: " + words_of(root.error()),
                "run fsck on it");

  std::string words = "default_permissions,allow_other,fsname=" + options.device +
                      ",subtype=headcrash-" + options.type;
  if (is_block_device(options.device)) words += ",blkdev";
  if (!options.kernel_words.empty()) words += "," + options.kernel_words;
  std::string program = options.program, flag = "-o";
  std::array<char*, 3> argv{program.data(), flag.data(), words.data()};
  fuse_args arguments = FUSE_ARGS_INIT(static_cast<int>(argv.size()), argv.data());
  const fuse_lowlevel_ops table = operation_table();
  session = fuse_session_new(&arguments, &table, sizeof table, service.get());
  fuse_opt_free_args(&arguments);
  if (session == nullptr)
    return fail(options.device, "libfuse rejected the mount options", "check the options after -o");
  if (fuse_session_mount(session, options.target.c_str()) != 0) {
    return fail(options.target, "cannot mount: " + words_of({.value = errno}),
                "use an existing folder, run as root, and load the kernel module fuse");
  }
  attached = true;
  return {};
}

/// Reads requests from the kernel. Runs on a separate thread.
void Server::State::read_requests() {
  for (;;) {
    fuse_buf* const buffer = buffers.take();
    const int got = fuse_session_receive_buf(session, buffer);
    if (got <= 0) buffers.give_back(buffer);
    if (got == -EINTR) continue;
    if (got <= 0) break;
    machine->clock().post([this, buffer] { begin(buffer); });
  }
  machine->clock().post([this] { reader_ended = true; });
}

void Server::State::begin(fuse_buf* buffer) {
  ++active;
  machine->system.executor.spawn(os::Executor::Kind::user, account, [this, buffer] {
    handle(*buffer);
    buffers.give_back(buffer);
    --active;
    idle.wake_all();
  });
}

void Server::State::handle(const fuse_buf& buffer) {
  fuse_in_header request = {};
  if (buffer.size >= sizeof request) std::memcpy(&request, buffer.mem, sizeof request);
  if (request.opcode == FUSE_SYNCFS) return sync_everything(request);
  fuse_session_process_buf(session, &buffer);
}

void Server::State::sync_everything(const fuse_in_header& request) {
  const auto synced = file_system->vfs().syncfs();
  const fuse_out_header answer{
      .len = sizeof answer, .error = synced ? 0 : -synced.error().value, .unique = request.unique};
  // The error is ignored, as in libfuse: the process that sent the request no longer exists.
  [[maybe_unused]] const ssize_t told = ::write(fuse_session_fd(session), &answer, sizeof answer);
}

/// Unmounts the file system. Runs on the fiber that handles DESTROY or on an internal fiber.
void Server::State::unmount() {
  if (std::exchange(unmounted, true)) return;
  const std::size_t own = active == 0 ? 0 : 1;
  while (active > own) idle.wait();
  const auto written = file_system->unmount();
  const bool durable = machine->flush_and_close() == model::Status::ok;
  if (!written || !durable)
    outcome =
        fail("unmount",
             "some data could not be written: " + words_of(written ? Errno{EIO} : written.error()),
             "run fsck on the device");
}

Server::Server(std::unique_ptr<State> state) : state_(std::move(state)) {}
Server::~Server() = default;

Result<std::unique_ptr<Server>> Server::mount(const MountPlan& plan, const ServeOptions& options) {
  TRY(auto machine, RealMachine::open(options.device, plan.machine));
  os::Executor& executor = machine->system.executor;
  os::Account account{.name = "mount"};
  Result<std::unique_ptr<adapters::MountedSystem>> mounted = fail("", "");
  executor.spawn(os::Executor::Kind::user, account, [&] { mounted = plan.mount(machine->system); });
  executor.run();
  if (!mounted) {
    executor.halt();
    return fail(options.device, mounted.error().message());
  }
  auto state = std::make_unique<State>(std::move(machine), std::move(*mounted));
  TRY(state->attach(options));
  return std::unique_ptr<Server>(new Server(std::move(state)));
}

Result<void> Server::serve() {
  State& s = *state_;
  std::thread reader([&s] { s.read_requests(); });
  s.machine->system.executor.run_until([&s] { return s.reader_ended && s.active == 0; });
  reader.join();
  if (!s.unmounted) {
    s.machine->system.executor.spawn(os::Executor::Kind::user, s.account, [&s] { s.unmount(); });
    s.machine->system.executor.run();
  }
  return s.outcome;
}

}  // namespace headcrash::fuse
