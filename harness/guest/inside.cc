// Mounts a program's root file system and enters it (inside.h).
#include "harness/guest/inside.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/loop.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "plugin/base/descriptor.h"

namespace headcrash::guest {
namespace {

namespace fs = std::filesystem;

const std::string kImage = "/run/rootfs/image";
const std::string kMemory = "/run/rootfs/memory";
const std::string kTop = kMemory + "/root";
const std::string kFallbackCommands = "/run/rootfs/commands";
const std::string kBusybox = "busybox";

/// If `done` is false, prints errno's message for `action` and ends this process.
void require(bool done, const std::string& action) {
  if (done) return;
  std::fputs(fmt::format("headcrash-agent: cannot {}: {}\n", action, std::strerror(errno)).c_str(),
             stderr);
  ::_exit(kCannotStart);
}

void make_folder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  errno = error.value();
  require(!error, "create " + path);
}

void mount_at(const std::string& source, const std::string& target, const char* type,
              unsigned long flags = 0, const std::string& data = "") {
  make_folder(target);
  require(::mount(source.c_str(), target.c_str(), type, flags, data.c_str()) == 0,
          fmt::format("mount {} at {}", source, target));
}

void bind_mount(const std::string& source, const std::string& target) {
  mount_at(source, target, nullptr, MS_BIND);
}

/// Attaches the file to a new loop device, and returns the name of the device.
std::string loop_device(const char* file) {
  const base::Descriptor control(::open("/dev/loop-control", O_RDWR | O_CLOEXEC));
  const int number = ::ioctl(control.get(), LOOP_CTL_GET_FREE);
  require(number >= 0, "find a free loop device");
  const std::string name = fmt::format("/dev/loop{}", number);
  const base::Descriptor image(::open(file, O_RDONLY | O_CLOEXEC));
  const base::Descriptor loop(::open(name.c_str(), O_RDONLY | O_CLOEXEC));
  require(::ioctl(loop.get(), LOOP_SET_FD, image.get()) == 0,
          fmt::format("attach {} to {}", file, name));
  return name;
}

/// Starts the loopback network interface. If this fails, programs that need no network still run.
void start_loopback() {
  const base::Descriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  std::strcpy(request.ifr_name, "lo");
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  ::ioctl(socket.get(), SIOCSIFFLAGS, &request);
}

/// Creates kFallbackCommands with a link to busybox for each of its applets. In the initramfs,
/// these are the links in /bin.
void link_commands() {
  make_folder(kFallbackCommands);
  for (const auto& entry : fs::directory_iterator("/bin")) {
    std::error_code error;
    if (fs::read_symlink(entry.path(), error).filename() == kBusybox)
      ::symlink(("/.headcrash/" + kBusybox).c_str(),
                (fs::path(kFallbackCommands) / entry.path().filename()).c_str());
  }
}

/// Mounts the image if the directory is empty. Otherwise, the image is already mounted.
void mount_image() {
  if (fs::exists(kImage) && !fs::is_empty(kImage)) return;
  start_loopback();
  link_commands();
  mount_at(loop_device("/rootfs.squashfs"), kImage, "squashfs", MS_RDONLY);
}

/// If the guest has this program, makes it available below /.headcrash.
void bind_program(const std::string& name) {
  for (const std::string folder : {"/usr/sbin/", "/usr/bin/", "/bin/"}) {
    if (!fs::is_regular_file(folder + name)) continue;
    const std::string target = kTop + "/.headcrash/" + name;
    const base::Descriptor file(::open(target.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0755));
    require(file.is_open(), "create " + target);
    require(::mount((folder + name).c_str(), target.c_str(), nullptr, MS_BIND, nullptr) == 0,
            "mount " + target);
    return;
  }
}

/// Adds the names of open files and pseudo-terminals to /dev, because devtmpfs lacks them. Errors
/// are ignored, because most programs need neither.
void complete_dev() {
  for (const auto& [target, name] :
       {std::pair("/proc/self/fd", "/dev/fd"), std::pair("/proc/self/fd/0", "/dev/stdin"),
        std::pair("/proc/self/fd/1", "/dev/stdout"), std::pair("/proc/self/fd/2", "/dev/stderr")})
    ::symlink(target, name);
  ::mkdir("/dev/pts", 0755);
  ::mount("devpts", (kTop + "/dev/pts").c_str(), "devpts", MS_NOSUID, "mode=620,ptmxmode=666");
}

/// Mounts the overlay at kTop, and creates the directories that programs expect.
void mount_overlay(const InsideCommand& command) {
  mount_at("tmpfs", kMemory, "tmpfs");
  make_folder(kMemory + "/upper");
  make_folder(kMemory + "/work");
  mount_at("overlay", kTop, "overlay", 0,
           fmt::format("lowerdir={},upperdir={}/upper,workdir={}/work", kImage, kMemory, kMemory));
  for (const char* folder : {"/run", "/root", "/tmp", "/var/tmp"}) make_folder(kTop + folder);
  for (const char* folder : {"/tmp", "/var/tmp"}) ::chmod((kTop + folder).c_str(), 01777);
  bind_mount("/dev", kTop + "/dev");
  complete_dev();
  mount_at("tmpfs", kTop + "/dev/shm", "tmpfs");
  mount_at("proc", kTop + "/proc", "proc");
  bind_mount("/sys", kTop + "/sys");
  const std::string same = kImage + command.root;
  if (!fs::exists(same) || fs::is_empty(same)) bind_mount(command.root, kTop + command.root);
  bind_mount(command.root, kTop + command.disk);
  make_folder(command.files);
  bind_mount(command.files, kTop + "/.headcrash/files");
  bind_program(kBusybox);
  bind_mount(kFallbackCommands, kTop + "/.headcrash/bin");
  bind_program("headcrash-tracer");
}

/// Changes the root of the process to the program's root file system, in a new mount namespace.
void enter(const InsideCommand& command) {
  mount_image();
  require(::unshare(CLONE_NEWNS) == 0, "create a mount namespace");
  require(::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0, "make mounts private");
  mount_overlay(command);
  require(::chroot(kTop.c_str()) == 0, "enter " + kTop);
  require(::chdir(command.folder.c_str()) == 0, "enter " + command.folder);
}

}  // namespace

std::optional<InsideCommand> parse_inside(const std::vector<std::string>& argv) {
  constexpr std::size_t kFixed = 6;
  const auto end = std::ranges::find(argv, "--");
  if (std::distance(argv.begin(), end) < std::ptrdiff_t{kFixed} || end == argv.end() ||
      end + 1 == argv.end() || argv[0] != "/init" || argv[1] != "inside")
    return std::nullopt;
  return InsideCommand{.root = argv[2],
                       .disk = argv[3],
                       .files = argv[4],
                       .folder = argv[5],
                       .environment = {argv.begin() + kFixed, end},
                       .argv = {end + 1, argv.end()}};
}

Program program_of(std::vector<std::string> argv) {
  auto command = parse_inside(argv);
  if (!command) return {.argv = std::move(argv)};
  Program program{.argv = std::move(command->argv), .environment = std::move(command->environment)};
  program.enter = [command = *std::move(command)] { enter(command); };
  return program;
}

}  // namespace headcrash::guest
