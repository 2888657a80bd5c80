// Attaches disks to a QEMU that the user starts (attach.h).
#include "harness/cli/attach.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "harness/cli/command.h"
#include "harness/explorer/reproduce/plain_checks.h"
#include "plugin/base/command_text.h"

namespace headcrash::cli {

std::string shell_line(const std::vector<std::string>& words) {
  constexpr std::string_view kMeansItself =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:,=+@%";
  std::string line;
  for (const std::string& word : words) {
    const bool plain = !word.empty() && word.find_first_not_of(kMeansItself) == std::string::npos;
    line += (line.empty() ? "" : " ") + (plain ? word : base::shell_quoted(word));
  }
  return line;
}

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
    return report_error({command[0], "cannot be run", "check the command after --"}, false);
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void PowerReport::observe(bool on, std::uint64_t cuts, model::TimeNs last_cut_at) {
  const bool was_cut = cuts != cuts_;
  if (was_cut)
    fmt::print(stderr, "The power was cut at {:.3f} s of model time.\n",
               static_cast<double>(last_cut_at) / static_cast<double>(model::kSecondNs));
  if (on && (was_cut || !on_)) fmt::print(stderr, "The power is on.\n");
  cuts_ = cuts;
  on_ = on;
}

}  // namespace headcrash::cli
