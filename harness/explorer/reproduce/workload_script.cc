// Converts each operation to a line of workload.sh (workload_script.h).
#include "harness/explorer/reproduce/workload_script.h"

#include <fmt/format.h>
#include <linux/fs.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "harness/explorer/reproduce/plain_checks.h"
#include "harness/explorer/reproduce/script_parts.h"
#include "harness/workload/attribute_value.h"
#include "harness/workload/operation_table.h"
#include "plugin/base/command_text.h"
#include "plugin/states/crash_state.h"

namespace headcrash::explorer {
namespace {

using workload::Operation;
using Kind = Operation::Kind;

constexpr unsigned kFirstDescriptor = 4,
                   kLastDescriptor = 9;  // redirections accept one digit; 3 is left to the shell
constexpr std::uint32_t kLargestByte = 255;

std::string subject_of(std::size_t number, const Operation& operation) {
  return fmt::format("operation {}, \"{}\"", number, workload::format(operation));
}

/// Maps the "%NAME" of each open file to one of the shell's file descriptors.
class Descriptors {
 public:
  std::optional<unsigned> open(const std::string& name) {
    for (unsigned each = kFirstDescriptor; each <= kLastDescriptor; ++each) {
      if (std::any_of(open_.begin(), open_.end(),
                      [&](const auto& one) { return one.second == each; }))
        continue;
      open_[name] = each;
      return each;
    }
    return std::nullopt;
  }
  /// Returns the file's descriptor, or 0 if the file is not open.
  unsigned find(const std::string& name) const {
    const auto at = open_.find(name);
    return at == open_.end() ? 0 : at->second;
  }
  unsigned close(const std::string& name) {
    const unsigned was = find(name);
    open_.erase(name);
    return was;
  }
  const std::map<std::string, unsigned>& still_open() const { return open_; }

 private:
  std::map<std::string, unsigned> open_;
};

Result<void> fits_a_byte(const Operation& operation, const std::string& subject) {
  if (operation.version != 0 && operation.version <= kLargestByte) return {};
  return fail(subject,
              fmt::format("its version must be from 1 to {} to fit into a byte", kLargestByte));
}

/// Returns the command that sets inode flags, with the letters that xfs_io uses for them.
Result<std::string> flags_command(const Operation& operation, const std::string& subject,
                                  const std::string& path) {
  constexpr std::array<std::pair<std::uint32_t, char>, 3> kLetters{
      {{FS_SYNC_FL, 's'}, {FS_NOATIME_FL, 'A'}, {FS_NODUMP_FL, 'd'}}};
  std::string set;
  std::uint32_t left = operation.flags;
  for (const auto& [flag, letter] : kLetters) {
    if ((left & flag) != 0) set += letter;
    left &= ~flag;
  }
  if (left != 0)
    return fail(subject,
                fmt::format("xfs_io cannot set \"{}\": the file could not be synced afterwards",
                            workload::format_flags(left)));
  return fmt::format("io -r -c 'chattr -sAd{}' {}", set.empty() ? "" : " +" + set, path);
}

/// Returns the command for setxattr. The command has the value in hexadecimal, because setfattr
/// then accepts any bytes. Fails if the argument would be too long.
Result<std::string> set_attribute(const Operation& operation, const std::string& path,
                                  const std::string& subject) {
  constexpr std::size_t kBytesMost = 60'000;
  if (operation.value.size() > kBytesMost)
    return fail(subject, fmt::format("setfattr accepts a value of at most {} bytes", kBytesMost));
  std::string digits = "0x";
  for (const char byte : operation.value)
    digits += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  const std::string word = workload::format_attribute_value(operation.value);
  const bool plain = word == operation.value;
  return fmt::format("setfattr -n {} -v {} {}", base::shell_quoted(operation.attribute),
                     plain ? base::shell_quoted(word) : digits, path);
}

/// Replaces the placeholders of a row's shell command (operation_table.h). `path` is quoted.
std::string filled_in(std::string_view shell, const Operation& operation, const std::string& path) {
  std::string command;
  while (!shell.empty()) {
    const std::size_t open = std::min(shell.find('{'), shell.size());
    command += shell.substr(0, open);
    shell.remove_prefix(open);
    if (shell.empty()) break;
    const char letter = shell.at(1);
    if (letter == 'p') {
      command += path;
    } else if (letter == 'e') {
      command += std::to_string(operation.offset + operation.length);
    } else {
      const std::string argument = workload::format_argument(letter, operation);
      command += letter == 't' || letter == 'a' ? base::shell_quoted(argument) : argument;
    }
    shell.remove_prefix(std::string_view("{x}").size());
  }
  return command;
}

Result<std::string> command_of(const Operation& operation, const std::string& subject,
                               const Descriptors& descriptors) {
  std::string path = base::shell_quoted(operation.path);
  if (workload::is_open_file(operation.path)) {
    const unsigned descriptor = descriptors.find(operation.path);
    if (descriptor == 0) return fail(subject, "the file is not open");
    path = fmt::format("/proc/self/fd/{}", descriptor);
  } else if (operation.path.empty()) {
    path = ".";
  }
  const std::string target = base::shell_quoted(operation.target);
  const workload::OperationRow& row = workload::row_of(operation.kind);
  if (row.shell.starts_with('!')) return fail(subject, std::string(row.shell.substr(1)));
  if (row.has(workload::kByteVersion)) {
    TRY(fits_a_byte(operation, subject));
  }
  switch (operation.kind) {
    case Kind::flags:
      return flags_command(operation, subject, path);
    case Kind::clone:
    case Kind::dedupe:
      // xfs_io parses the path again, so the path is quoted first for xfs_io and then for the
      // shell.
      return fmt::format(
          "io -c {} {}",
          base::shell_quoted(fmt::format(
              "{} -q \"{}\" {} {} {}", operation.kind == Kind::clone ? "reflink" : "dedupe",
              operation.path, operation.offset, operation.target_offset, operation.length)),
          target);
    case Kind::link:  // for an open file, links the descriptor, not the symbolic link in /proc
      return fmt::format("ln {} {} {}", workload::is_open_file(operation.path) ? "-LT" : "-T", path,
                         target);
    case Kind::setxattr:
      return set_attribute(operation, path, subject);
    default:
      return filled_in(row.shell, operation, path);
  }
}

/// Returns the values that the script tries for a torn write. A positive value is the number of
/// sectors that survive at the start of the write; a negative value is the number that survive at
/// the end.
std::string torn_sectors(const states::CrashState& state) {
  if (state.torn.empty()) return "";
  std::string counts = "1";
  for (const states::TornWrite& write : state.torn)
    if (write.first == 0 && write.count > 1) counts += fmt::format(" {}", write.count);
  return counts + " -1";
}

}  // namespace

Result<std::string> operations_in_shell(
    std::span<const Operation> operations,
    std::span<const workload::FailedOperation> failed_operations) {
  std::string text;
  Descriptors descriptors;
  for (std::size_t number = 0; number < operations.size(); ++number) {
    const Operation& operation = operations[number];
    const std::string subject = subject_of(number, operation),
                      words = base::shell_quoted(workload::format(operation));
    if (operation.thread != 0) return fail(subject, "a script cannot run operations concurrently");
    const auto failed = std::find_if(failed_operations.begin(), failed_operations.end(),
                                     [&](const auto& each) { return each.operation == number; });
    if (failed != failed_operations.end()) {
      if (failed->outcome == workload::Outcome::partial)
        return fail(subject, "it was executed only partially, because the disk was full");
      text +=
          fmt::format("  # {}  {}: not supported, skipped\n", number, workload::format(operation));
      continue;
    }
    TRY(const auto command, command_of(operation, subject, descriptors));
    if (command.empty()) continue;
    text += fmt::format("  step {} {} {}\n", number, words, command);
    if (operation.kind == Kind::open) {
      const auto descriptor = descriptors.open(operation.target);
      if (!descriptor) return fail(subject, "a shell supports at most six open files");
      text += fmt::format("  command exec {}<> {} || cannot 'it cannot be opened'\n", *descriptor,
                          base::shell_quoted(operation.path));
    }
    if (operation.kind == Kind::close)
      text += fmt::format("  exec {}>&-\n", descriptors.close(operation.path));
    if (workload::is_persistence_point(operation)) text += fmt::format("  mark {}\n", number);
  }
  for (const auto& [name, descriptor] : descriptors.still_open())
    text += fmt::format("  exec {}>&-\n", descriptor);
  return text;
}

Result<std::string> workload_script(const ReproducerOf& of) {
  const adapters::LinuxAdapter& filesystem = *of.filesystem;
  TRY(can_be_reproduced(filesystem));
  if (of.operations.empty()) return fail("the recording", "its operations are unknown");
  TRY(const auto operations, operations_in_shell(of.operations, of.failed_operations));
  TRY(const auto state, states::parse_crash_state(of.state));
  adapters::GuestCommand mkfs = filesystem.mkfs;
  mkfs.argv = adapters::fill_in(
      mkfs.argv, {.device = std::string(kDevicePlace), .log = "", .uuid = of.uuid, .target = ""});

  std::string script = "#!/bin/sh\n" + as_comment(of.account) + "\n" + script_head(of);
  script += script_setting("size", std::to_string(of.disk_bytes)) +
            script_setting("persisted", of.persisted ? std::to_string(*of.persisted)
                                        : of.mounted ? "start"
                                                     : "mkfs") +
            script_setting("one_left_out", state.listed.empty() ? "" : "yes") +
            script_setting("torn", torn_sectors(state)) +
            script_setting("mkfs_words", in_words(mkfs)) + script_command("mkfs", mkfs);
  script += checks_function(plain_checks(of.findings, of.operations, Content::version_bytes));
  script += "operations() {\n  :\n" + operations + "}\n\n";
  return script + embedded_script("look.sh") + embedded_script("workload.sh");
}

}  // namespace headcrash::explorer
