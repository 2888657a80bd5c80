// Creates the parts that both scripts share (script_parts.h).
#include "harness/explorer/reproduce/script_parts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "harness/explorer/reproduce/plain_checks.h"
#include "headcrash_explorer_embedded.h"
#include "plugin/base/command_text.h"

namespace headcrash::explorer {
namespace {

/// Quotes one word of a command for the shell. {device} is replaced by "$1".
std::string script_word(const std::string& word) {
  std::string text = base::shell_quoted(word);
  base::replace_all(text, kDevicePlace, "'\"$1\"'");
  return text;
}

}  // namespace

std::string script_setting(std::string_view name, const std::string& value) {
  return fmt::format("{}={}\n", name, base::shell_quoted(value));
}

std::string script_command(const std::string& name, const adapters::GuestCommand& command) {
  std::string body = command.argv.empty() ? "true" : "";
  for (const std::string& word : command.argv)
    body += (body.empty() ? "" : " ") + script_word(word);
  const std::vector<int> good = command.argv.empty() ? std::vector<int>{0} : command.good_exits;
  return fmt::format("{0}() {{ {1}; }}\n{0}_good={2}\n", name, body,
                     base::shell_quoted(fmt::format("{}", fmt::join(good, " "))));
}

std::string in_words(const adapters::GuestCommand& command) {
  return command.argv.empty() ? "(nothing)" : fmt::format("{}", fmt::join(command.argv, " "));
}

std::string as_comment(const std::string& text) {
  std::string comment;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    comment += line.empty() ? "#\n" : "# " + line + "\n";
    at = end + 1;
  }
  return comment;
}

std::string script_head(const ReproducerOf& of) {
  const adapters::LinuxAdapter& filesystem = *of.filesystem;
  const bool atomic = filesystem.promises.names_are_atomic();
  const bool kernel_recovers =
      !filesystem.replay_by_mount && atomic && !filesystem.replay.argv.empty();
  return script_setting("title", fmt::format("{}, crash state {}: {}", filesystem.title, of.state,
                                             of.judgement.summary)) +
         script_setting("fstype", filesystem.type) +
         script_setting("mount_options", filesystem.mount_options) +
         script_setting("replay_by_mount", filesystem.replay_by_mount ? "yes" : "") +
         script_setting("kernel_recovers", kernel_recovers ? "yes" : "") +
         script_setting("fsck_may_repair", atomic ? "" : "yes") +
         script_setting("replay_words", filesystem.replay_by_mount ? "mount and unmount"
                                                                   : in_words(filesystem.replay)) +
         script_setting("check_words", in_words(filesystem.check)) +
         script_command("replay", filesystem.replay) + script_command("check", filesystem.check) +
         script_command("repair", filesystem.repair);
}

std::string checks_function(const std::vector<std::string>& lines) {
  std::string text = "checks() {\n  :\n";
  for (const std::string& line : lines) text += "  " + line + "\n";
  return text + "}\n\n";
}

std::string embedded_script(std::string_view name) {
  for (const EmbeddedFile& file : embedded_files())
    if (file.name == name) return std::string(file.text);
  return {};
}

}  // namespace headcrash::explorer
