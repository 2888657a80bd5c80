// Parser of the TOML files of stacks (stack.h). Unknown keys and placeholders are errors.
#include "fs-adapters/linux/stack.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "headcrash_stack_files_embedded.h"
#include "plugin/base/command_text.h"
#include "plugin/base/named_file.h"
#include "plugin/base/nearest.h"
#include "plugin/base/strict_table.h"

namespace headcrash::adapters {
namespace {

using base::StrictTable;

constexpr int kStackBasesMost = 4;
constexpr std::uint64_t kOverheadBytesMost = 1ULL << 30;
constexpr std::uint64_t kDiskUnitBytes = 1 << 20;  ///< the size of a disk is a whole number of MiB
constexpr const char* kDiskHint = "name a disk of this stack, such as \"hd1\"";

std::string disk_name(std::size_t index) {
  return fmt::format("hd{}", index);
}

std::vector<std::string> places_of(const Stack& stack) {
  std::vector<std::string> places{"{device}", "{disks}", "{uuid}"};
  for (std::size_t i = 0; i < stack.disks; ++i) places.push_back(fmt::format("{{disk{}}}", i));
  return places;
}

Result<void> check_commands(const StrictTable& root, const Stack& stack) {
  const std::pair<const char*, const GuestCommand*> commands[] = {
      {"create", &stack.create}, {"assemble", &stack.assemble}, {"degrade", &stack.degrade},
      {"stop", &stack.stop},     {"check", &stack.check},       {"scrub", &stack.scrub}};
  const std::vector<std::string> places = places_of(stack);
  for (const auto& [section, command] : commands) {
    const std::string key = fmt::format("{}.command", section);
    const bool optional =
        command == &stack.degrade || command == &stack.check || command == &stack.scrub;
    if (command->argv.empty() && !optional)
      return fail(root.subject(key), "is missing",
                  fmt::format("set the command that {}",
                              command == &stack.create     ? "creates {device} on {disks}"
                              : command == &stack.assemble ? "assembles {device} after a cut"
                                                           : "stops {device}"));
    if (command->host)
      return fail(root.subject(std::string(section) + ".host"), "is not supported for stacks",
                  "omit it: the command always runs in a guest");
    for (const std::string& word : command->argv) TRY(check_placeholders(root, key, word, places));
  }
  return {};
}

Result<void> read_rules(const StrictTable& root, Stack& stack) {
  TRY(const auto table, root.table("rules"));
  if (!table) return {};
  TRY(table->only({"answered-after-all", "flushed-on-all", "preflushed-on-all", "mirror-width",
                   "xor-is-zero", "bitmap-marks-writes", "journal-forgets-flushed",
                   "data-offset"}));
  StackRules& rules = stack.rules;
  auto width = static_cast<std::int64_t>(rules.mirror_width);
  for (const auto& read :
       {table->take("answered-after-all", rules.answered_after_all),
        table->take("flushed-on-all", rules.flushed_on_all),
        table->take("preflushed-on-all", rules.preflushed_on_all),
        table->take("xor-is-zero", rules.xor_is_zero),
        table->take("bitmap-marks-writes", rules.bitmap_marks_writes),
        table->take("journal-forgets-flushed", rules.journal_forgets_flushed),
        table->take("mirror-width", width, {.least = 0, .most = kStackDisksMost}),
        table->take_size("data-offset", rules.data_offset_bytes)})
    if (!read) return read;
  rules.mirror_width = static_cast<std::size_t>(width);
  if (rules.mirror_width == 1 || (rules.mirror_width != 0 && stack.disks % rules.mirror_width != 0))
    return fail(table->subject("mirror-width"),
                fmt::format("{} is not a valid number of copies for {} disks", rules.mirror_width,
                            stack.disks),
                "use a number of copies that divides the number of disks, or 0 to omit this rule");
  if (rules.data_offset_bytes % 512 != 0)
    return fail(table->subject("data-offset"), "is not a whole number of sectors", "use 1M");
  return {};
}

Result<void> read_promise(const StrictTable& root, Stack& stack) {
  TRY(const auto table, root.table("promise"));
  if (!table)
    return fail(root.subject("promise"), "is missing",
                "add [promise] with expected, reason and source");
  TRY(table->only({"expected", "reason", "source"}));
  TRY(parse_expected(*table, stack.expected));
  TRY(table->take("reason", stack.reason));
  TRY(table->take("source", stack.source));
  for (const auto& [key, text] : {std::pair{"reason", &stack.reason}, {"source", &stack.source}})
    if (text->empty())
      return fail(table->subject(key), "is missing",
                  "state why this outcome is expected, and where this is documented");
  return {};
}

Result<void> read_disks(const StrictTable& root, Stack& stack) {
  auto disks = static_cast<std::int64_t>(stack.disks);
  auto data_disks = static_cast<std::int64_t>(stack.data_disks);
  TRY(root.take("disks", disks, {.least = 1, .most = kStackDisksMost}));
  TRY(root.take("data-disks", data_disks, {.least = 1, .most = kStackDisksMost}));
  TRY(root.take_size("overhead", stack.overhead_bytes));
  stack.disks = static_cast<std::size_t>(disks);
  stack.data_disks = static_cast<std::size_t>(data_disks);
  if (stack.data_disks > stack.disks)
    return fail(root.subject("data-disks"),
                fmt::format("{} is more than the stack's {} disks", data_disks, disks),
                "give the number of data disks, excluding parity disks");
  if (stack.overhead_bytes > kOverheadBytesMost)
    return fail(root.subject("overhead"),
                fmt::format("invalid size: {} bytes", stack.overhead_bytes), "use at most 1G");
  TRY(root.take("absent", stack.absent));
  for (const std::string& name : stack.absent) {
    bool known = false;
    for (std::size_t i = 0; i < stack.disks; ++i) known |= name == disk_name(i);
    if (!known)
      return fail(root.subject("absent"), fmt::format("there is no disk \"{}\"", name), kDiskHint);
  }
  if (stack.absent.size() >= stack.disks)
    return fail(root.subject("absent"), "lists all disks, so none would be left", kDiskHint);
  return {};
}

Result<Stack> interpret(const StrictTable& root) {
  TRY(root.only({"base", "title", "disks", "data-disks", "overhead", "device", "packages",
                 "modules", "absent", "create", "assemble", "degrade", "stop", "check", "scrub",
                 "promise", "rules"}));
  Stack stack;
  stack.create.good_exits = stack.assemble.good_exits = stack.degrade.good_exits =
      stack.stop.good_exits = stack.check.good_exits = stack.scrub.good_exits = {0};
  for (const auto& read :
       {root.take("title", stack.title), read_disks(root, stack), root.take("device", stack.device),
        root.take("packages", stack.packages), root.take("modules", stack.modules),
        read_command(root, "create", stack.create), read_command(root, "assemble", stack.assemble),
        read_command(root, "degrade", stack.degrade), read_command(root, "stop", stack.stop),
        read_command(root, "check", stack.check), read_command(root, "scrub", stack.scrub),
        read_promise(root, stack), read_rules(root, stack)})
    TRY(read);
  if (stack.title.empty())
    return fail(root.subject("title"), "is missing", "describe the stack in a few words");
  if (!stack.device.starts_with("/dev/") || stack.device.find('{') != std::string::npos)
    return fail(root.subject("device"),
                fmt::format("\"{}\" is not a path below /dev", stack.device),
                "give the device that `create` and `assemble` make, such as /dev/md127");
  TRY(check_commands(root, stack));
  return stack;
}

/// Returns the stack's table, merged with the tables of its bases.
Result<StrictTable> merged(const StrictTable& root, const std::filesystem::path& folder,
                           int depth) {
  std::string base;
  TRY(root.take("base", base));
  if (base.empty()) return root;
  if (depth >= kStackBasesMost)
    return fail(root.subject("base"), "is circular or nested too deeply");
  TRY(const auto found, base::find_named_file("stack", base::named_in(folder, base),
                                              base::built_in(stack_files::embedded_files())));
  TRY(const auto parent, StrictTable::parse(found.text, found.file));
  TRY(const auto whole, merged(parent, found.folder, depth + 1));
  return root.over(whole);
}

}  // namespace

std::uint64_t Stack::disk_bytes(std::uint64_t data_bytes) const {
  const std::uint64_t share = (data_bytes + data_disks - 1) / data_disks + overhead_bytes;
  return (share + kDiskUnitBytes - 1) / kDiskUnitBytes * kDiskUnitBytes;
}

std::string disk_path(std::size_t index) {
  return std::string("/dev/vd") + static_cast<char>(index == 0 ? 'a' : 'b' + index);
}

std::vector<std::string> fill_in_stack(const Stack& stack, const std::vector<std::string>& argv,
                                       std::string_view uuid, bool after_cut) {
  std::vector<std::string> disks;
  for (std::size_t i = 0; i < stack.disks; ++i) {
    const bool absent =
        after_cut && std::ranges::find(stack.absent, disk_name(i)) != stack.absent.end();
    if (!absent) disks.push_back(disk_path(i));
  }
  std::string joined;
  for (const std::string& disk : disks) joined += (joined.empty() ? "" : " ") + disk;
  std::vector<std::string> filled;
  for (std::string word : argv) {
    if (word == "{disks}") {
      filled.insert(filled.end(), disks.begin(), disks.end());
      continue;
    }
    base::replace_all(word, "{device}", stack.device);
    base::replace_all(word, "{disks}", joined);
    base::replace_all(word, "{uuid}", uuid);
    for (std::size_t i = 0; i < stack.disks; ++i)
      base::replace_all(word, fmt::format("{{disk{}}}", i), disk_path(i));
    filled.push_back(std::move(word));
  }
  return filled;
}

Result<Stack> load_stack_of_devices(const std::string& name_or_path) {
  TRY(const auto found,
      base::find_named_file("stack", name_or_path, base::built_in(stack_files::embedded_files())));
  TRY(const auto root, StrictTable::parse(found.text, found.file));
  TRY(const auto whole, merged(root, found.folder, 0));
  auto stack = interpret(whole);
  if (!stack) return stack;
  stack->name = found.name;
  if (base::is_path(name_or_path))
    stack->file = std::filesystem::absolute(name_or_path).lexically_normal().string();
  return stack;
}

Result<Stack> parse_stack_of_devices(std::string_view text, const std::string& file_name) {
  TRY(const auto root, StrictTable::parse(text, file_name));
  TRY(const auto whole, merged(root, std::filesystem::path(file_name).parent_path(), 0));
  return interpret(whole);
}

std::vector<std::string> built_in_stacks() {
  return base::names_of(base::built_in(stack_files::embedded_files()));
}

}  // namespace headcrash::adapters
