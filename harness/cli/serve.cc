// headcrash serve: an emulated disk for a QEMU guest, or for anything else that speaks NBD.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <thread>

#include "harness/cli/command.h"
#include "harness/device/served_device.h"
#include "harness/process/scratch_folder.h"
#include "harness/vm/guest.h"
#include "plugin/config/size.h"

namespace headcrash::cli {
namespace {

namespace fs = std::filesystem;

struct ServeArguments {
  std::string profile = "hp-c2447", size, store, record, socket, control, clock = "real", write_cache = "on",
              cut;
  std::uint64_t seed = 1;
  bool as_json = false;
  std::vector<std::string> command;
};

Result<device::ServedDeviceSpec> specification(const ServeArguments& arguments) {
  device::ServedDeviceSpec spec{.profile = arguments.profile,
                                .write_cache = arguments.write_cache == "on",
                                .clock = arguments.clock,
                                .seed = arguments.seed,
                                .cut = arguments.cut};
  if (!arguments.size.empty()) {
    const Result<std::uint64_t> size = config::parse_size(arguments.size, "--size");
    if (!size) return pass_on(size);
    spec.size_bytes = *size;
  }
  if (!arguments.store.empty()) spec.store = fs::absolute(arguments.store);
  if (!arguments.record.empty()) spec.recording = fs::absolute(arguments.record);
  if (!arguments.socket.empty()) spec.socket = fs::absolute(arguments.socket);
  if (!arguments.control.empty()) spec.control_socket = fs::absolute(arguments.control);
  return spec;
}

void tell_how_to_attach(const device::ServedDevice& served, const std::vector<std::string>& disk,
                        const ServeArguments& arguments) {
  if (arguments.as_json) {
    print({{"socket", served.socket().string()},
           {"control", served.control_socket().string()},
           {"qemu", disk}});
    std::fflush(stdout);
    return;
  }
  std::string line;
  for (const std::string& word : disk)
    line += (line.empty() ? "" : " ") +
            (word.find_first_of(" '\"$") == std::string::npos ? word : "'" + word + "'");
  fmt::print(
      "{} is being served; end it with Ctrl-C.\n\nFor QEMU:\n  {}\n\nFor other clients:\n  nbdinfo "
      "'nbd+unix:///?socket={}'\n\n"
      "Control socket (JSON lines):\n  {}\n",
      arguments.profile, line, served.socket().string(), served.control_socket().string());
  std::fflush(stdout);
}

/// Runs the user's command with the disk's options added and returns its exit code.
int run_command(std::vector<std::string> command, const std::vector<std::string>& disk) {
  command.insert(command.end(), disk.begin(), disk.end());
  std::vector<char*> argv;
  argv.reserve(command.size() + 1);
  for (std::string& word : command) argv.push_back(word.data());
  argv.push_back(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    ::execvp(argv[0], argv.data());
    ::_exit(127);
  }
  int status = 0;
  while (child > 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR) ::kill(child, SIGTERM);
  if (child < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 127)) {
    return tell({command[0], "cannot be run", "check the command after --"}, false);
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int serve(const ServeArguments& arguments) {
  const Result<device::ServedDeviceSpec> spec = specification(arguments);
  if (!spec) return tell(spec.error(), arguments.as_json);
  catch_interrupts();
  // Sockets that were not named lie in a folder that goes with the server.
  const Result<process::ScratchFolder> folder = process::ScratchFolder::make();
  if (!folder) return tell(folder.error(), arguments.as_json);
  auto served = device::ServedDevice::start(*spec, folder->path());
  if (!served) return tell(served.error(), arguments.as_json);
  const std::vector<std::string> disk = vm::qemu_disk_arguments({.socket = (*served)->socket()}, 0);
  if (!arguments.command.empty()) return run_command(arguments.command, disk);
  tell_how_to_attach(**served, disk, arguments);
  while (!interrupted() && (*served)->alive()) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  if (const auto stopped = (*served)->stop(); !stopped) return tell(stopped.error(), arguments.as_json);
  return kFine;
}

}  // namespace

void add_serve(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("serve", "Serves an emulated disk over NBD and prints how to attach it");
  const auto arguments = std::make_shared<ServeArguments>();
  command
      ->add_option("--profile", arguments->profile,
                   "Drive: a built-in name (headcrash list profiles) or a .toml file")
      ->capture_default_str();
  command->add_option("--size", arguments->size, "Size, for example 1G; default: the whole drive");
  command->add_option("--store", arguments->store, "Folder that keeps the bytes; default: memory");
  command->add_option("--record", arguments->record, "Record everything that happens to this file");
  command->add_option("--clock", arguments->clock, "real, real:K (K times slower than life) or off")
      ->capture_default_str();
  command->add_option("--write-cache", arguments->write_cache, "The drive's volatile write cache")
      ->check(CLI::IsMember({"on", "off"}))
      ->capture_default_str();
  command->add_option("--cut", arguments->cut,
                      "Cut the power: after-writes:N, at-flush:N, after-ms:X, after-mark:TEXT+X");
  command->add_option("--seed", arguments->seed, "Seed of everything random")->capture_default_str();
  command->add_option("--socket", arguments->socket,
                      "NBD socket; default: in a folder that goes with the server");
  command->add_option("--control", arguments->control, "Control socket; default: beside the NBD socket");
  command->add_flag("--json", arguments->as_json, "Print the sockets and QEMU's options as JSON");
  command->add_option("COMMAND", arguments->command,
                      "After --: a command (QEMU) to run with the disk's options added");
  command->footer(
      "Examples:\n  headcrash serve --profile hp-c2447 --size 1G\n"
      "  headcrash serve --profile hp-c2447 --size 512M --store disk --record run.hcrec --cut at-flush:20\n"
      "  headcrash serve --profile hp-c2447 -- qemu-system-x86_64 -m 1G -nographic -cdrom installer.iso");
  command->callback([arguments, &exit_code] { exit_code = serve(*arguments); });
}

}  // namespace headcrash::cli
