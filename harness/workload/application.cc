// Parses the TOML files of applications (application.h).
#include "harness/workload/application.h"

#include <fmt/format.h>
#include <glob.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <regex>

#include "headcrash_workload_embedded.h"
#include "plugin/base/command_text.h"
#include "plugin/base/named_file.h"
#include "plugin/base/nearest.h"
#include "plugin/base/strict_table.h"

namespace headcrash::workload {
namespace {

using base::StrictTable;

constexpr int kDeepestBase = 4;
constexpr std::size_t kFilesMost = 64;

constexpr std::string_view kEachSetting = "+*";

Result<Application> interpret(const StrictTable& root, const std::filesystem::path& folder,
                              int depth);

bool is_setting_name(std::string_view name) {
  return !name.empty() && name.find_first_not_of(
                              "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") ==
                              std::string_view::npos;
}

std::vector<std::string> setting_names(const Application& application) {
  std::vector<std::string> names;
  names.reserve(application.settings.size());
  for (const auto& [name, setting] : application.settings) names.push_back(name);
  return names;
}

/// Selects the setting with the given name, or the default setting.
Result<void> choose_setting(const std::string& wanted, Application& application) {
  if (!wanted.empty()) {
    if (!application.settings.contains(wanted)) {
      return fail(fmt::format("application \"{}\"", application.name),
                  fmt::format("has no setting \"{}\"", wanted),
                  application.settings.empty() ? "this application has no settings"
                                               : base::suggest(wanted, setting_names(application)));
    }
    application.setting = wanted;
  }
  if (application.settings.empty()) return {};
  const ApplicationSetting& setting = application.settings.at(application.setting);
  for (auto* commands : {&application.prepare, &application.run, &application.verify})
    for (Command& command : *commands)
      for (std::string& word : command.words) base::replace_all(word, "{setting}", setting.words);
  application.name += "+" + application.setting;
  application.title += ", " + application.setting;
  application.promise = setting.promise;
  application.expected = setting.expected;
  return {};
}

Result<Application> load(const std::string& name_or_path, int depth) {
  TRY(const auto found,
      base::find_named_file("application", name_or_path, base::built_in(embedded_files())));
  TRY(const auto root, StrictTable::parse(found.text, found.file));
  Result<Application> application =
      interpret(root, std::filesystem::path(found.file).parent_path(), depth);
  if (application) application->name = found.name;
  return application;
}

Result<void> read_files(const StrictTable& root, Application& application) {
  TRY(const auto table, root.table("files"));
  if (!table) return {};
  for (const std::string& name : table->keys()) {
    if (name.empty() || name.starts_with('.') || name.find('/') != std::string::npos)
      return fail(table->subject(name), "is not a plain file name",
                  "use a name without a slash and without a leading dot");
    TRY(table->take(name, application.files[name]));
  }
  if (application.files.size() > kFilesMost)
    return fail(root.subject("files"), fmt::format("there are more than {} files", kFilesMost));
  return {};
}

Result<void> read_settings(const StrictTable& root, Application& application) {
  TRY(const auto table, root.table("settings"));
  if (table) {
    application.settings.clear();
    for (const std::string& name : table->keys()) {
      if (!is_setting_name(name))
        return fail(table->subject(name), "is not a valid setting name",
                    "use letters, digits and '-'");
      TRY(const auto setting, table->table(name));
      TRY(setting->only({"words", "promise", "expected"}));
      ApplicationSetting& into = application.settings[name];
      for (const auto& read :
           {setting->take("words", into.words), setting->take("promise", into.promise),
            adapters::parse_expected(*setting, into.expected)}) {
        if (!read) return read;
      }
      if (!setting->has("words"))
        return fail(setting->subject("words"), "is missing",
                    "set it to the text that replaces {setting}");
    }
  }
  if (application.settings.empty()) return {};
  if (application.setting.empty())
    return fail(root.subject("setting"), "is missing", "set it to the name of the default setting");
  if (application.settings.contains(application.setting)) return {};
  return fail(root.subject("setting"), fmt::format("unknown setting \"{}\"", application.setting),
              base::suggest(application.setting, setting_names(application)));
}

Result<void> check_packages(const StrictTable& root, const Application& application) {
  const std::regex names("[a-z0-9+.][a-z0-9+.-]*(\\|[a-z0-9+.][a-z0-9+.-]*)*");
  for (const std::string& package : application.packages)
    if (!std::regex_match(package, names))
      return fail(root.subject("packages"), fmt::format("invalid package name \"{}\"", package),
                  "use names of installed Debian packages; separate alternatives with |");
  return {};
}

/// Parses `rootfs`. A relative path is resolved against the directory of the application file.
Result<void> read_rootfs(const StrictTable& root, const std::filesystem::path& folder,
                         Application& application) {
  if (!root.has("rootfs")) return {};
  std::string name;
  TRY(root.take("rootfs", name));
  application.rootfs = std::filesystem::absolute(folder / name).lexically_normal().string();
  std::error_code error;
  if (!std::filesystem::is_regular_file(application.rootfs, error))
    return fail(root.subject("rootfs"),
                fmt::format("the file {} does not exist", application.rootfs),
                "use a squashfs image, with a path relative to the folder of this file");
  return {};
}

/// Parses a list of commands. Each is a line for a shell, or a list of words.
Result<void> read_commands(const StrictTable& root, const std::string& key,
                           std::vector<Command>& into) {
  if (!root.has(key)) return {};
  const StrictTable list = root.elements(key);
  std::vector<Command> commands;
  for (std::size_t i = 0; list.has(fmt::format("{}[{}]", key, i)); ++i) {
    const std::string item = fmt::format("{}[{}]", key, i);
    Command command{.words = {""}, .shell = list.type(item) != StrictTable::Type::list};
    TRY(command.shell ? list.take(item, command.words[0]) : list.take(item, command.words));
    commands.push_back(std::move(command));
  }
  if (commands.empty())
    return fail(root.subject(key), "must be a non-empty list of commands",
                fmt::format("write {} = [\"...\"]", key));
  into = std::move(commands);
  return {};
}

/// Fails if the application has no `rootfs` but uses a feature that needs one: `folder`,
/// `environment`, or a command given as a list of words.
Result<void> check_needs_rootfs(const StrictTable& root, const Application& application) {
  if (!application.rootfs.empty()) return {};
  for (const char* key : {"folder", "environment"})
    if (root.has(key)) return fail(root.subject(key), "needs `rootfs`");
  for (const auto* commands : {&application.prepare, &application.run, &application.verify})
    for (const Command& command : *commands)
      if (!command.shell)
        return fail(
            root.subject("rootfs"),
            fmt::format("is missing, but is required because the command \"{}\" is a list of words",
                        command.words.front()),
            "write the command as one string");
  return {};
}

Result<void> check_complete(const StrictTable& root, const Application& application) {
  if (application.run.empty())
    return fail(root.subject("run"), "is missing",
                "set it to the commands that make data persistent");
  if (application.verify.empty())
    return fail(root.subject("verify"), "is missing",
                "set it to the commands that check the persisted data");
  return {};
}

/// Returns the last path that matches the pattern, or the pattern itself if no path does.
std::filesystem::path last_match(const std::filesystem::path& pattern) {
  glob_t matches{};
  std::filesystem::path last = pattern;
  if (::glob(pattern.c_str(), 0, nullptr, &matches) == 0)
    last = matches.gl_pathv[matches.gl_pathc - 1];
  ::globfree(&matches);
  return last;
}

/// Parses `tools`. A name that contains a '/' is the path of a program on the host. A relative path
/// is resolved against the directory of the application's file. The program at an absolute path may
/// be missing on the host if the application has `packages`, because a package may provide the
/// program. If no package does, packing the guest fails later with an error that names the program.
Result<void> settle_tools(const StrictTable& root, const std::filesystem::path& folder,
                          Application& application) {
  if (!root.has("tools")) return {};
  application.own_tools.clear();
  for (std::string& tool : application.tools) {
    if (tool.find('/') == std::string::npos) continue;
    const bool packaged = tool.front() == '/' && !application.packages.empty();
    const std::filesystem::path path =
        last_match(std::filesystem::absolute(folder / tool).lexically_normal());
    std::error_code error;
    const bool found = std::filesystem::is_regular_file(path, error);
    if (!found && !packaged)
      return fail(
          root.subject("tools"), fmt::format("program {} does not exist", path.string()),
          "use a path relative to the folder of this file, or the name of a program in the guest");
    if (found && ::access(path.c_str(), X_OK) != 0)
      return fail(root.subject("tools"), fmt::format("{} is not executable", path.string()),
                  "run chmod +x on the file");
    application.own_tools.push_back(path.string());
    tool = path.filename().string();
  }
  return {};
}

Result<Application> interpret(const StrictTable& root, const std::filesystem::path& folder,
                              int depth) {
  TRY(root.only({"base", "title", "promise", "packages", "tools", "rootfs", "files", "prepare",
                 "run", "verify", "each-command-persists", "every-line-persists",
                 "verify-by-exit-code", "report", "expected", "setting", "settings", "folder",
                 "environment"}));
  Application application;
  std::string base;
  TRY(root.take("base", base));
  if (!base.empty()) {
    if (depth >= kDeepestBase)
      return fail(root.subject("base"), "is circular or nested too deeply",
                  "omit it from one of the files");
    TRY(const auto parent, load(base, depth + 1));
    application = parent;
  }
  for (const auto& read : {root.take("title", application.title),
                           root.take("promise", application.promise),
                           root.take("packages", application.packages),
                           root.take("tools", application.tools),
                           settle_tools(root, folder, application),
                           root.take("setting", application.setting),
                           read_commands(root, "prepare", application.prepare),
                           read_commands(root, "run", application.run),
                           read_commands(root, "verify", application.verify),
                           root.take("folder", application.folder),
                           root.take("environment", application.environment),
                           root.take("each-command-persists", application.each_command_persists),
                           root.take("every-line-persists", application.every_line_persists),
                           root.take("verify-by-exit-code", application.verify_by_exit_code),
                           root.take("report", application.report),
                           read_files(root, application),
                           read_rootfs(root, folder, application),
                           check_needs_rootfs(root, application),
                           adapters::parse_expected(root, application.expected),
                           read_settings(root, application),
                           check_packages(root, application),
                           check_complete(root, application)}) {
    TRY(read);
  }
  return application;
}

}  // namespace

std::string program_in(const std::vector<std::string>& argv) {
  const bool inside = argv.size() > 1 && argv[0] == kAgentProgram && argv[1] == "inside";
  auto at = inside ? std::ranges::find(argv, "--") : argv.begin();
  if (inside && at != argv.end()) ++at;
  return at == argv.end() ? "" : *at;
}

std::vector<std::vector<std::string>> argvs(const Application& application,
                                            const std::vector<Command>& commands,
                                            std::string_view root) {
  const bool inside = !application.rootfs.empty();
  std::vector<std::vector<std::string>> all;
  for (const Command& command : commands) {
    std::vector<std::string>& argv = all.emplace_back();
    const auto append = [&argv](const std::vector<std::string>& words) {
      argv.insert(argv.end(), words.begin(), words.end());
    };
    if (inside) {
      append({kAgentProgram, "inside", std::string(root), kInsideDisk, kApplicationFolder});
      append({command.shell ? "/" : application.folder});
      if (!command.shell) append(application.environment);
      append({"--"});
      if (command.shell) append({kInsideBusybox});
    }
    if (!command.shell) {
      append(command.words);
      continue;
    }
    std::string line = command.words.front();
    base::replace_all(line, "{root}", root);
    base::replace_all(line, "{files}", kApplicationFolder);
    append({"sh", "-c", line});
  }
  return all;
}

Result<Application> load_application(const std::string& name_or_path) {
  const auto [name, setting] = base::split_variant(name_or_path);
  Result<Application> application = load(name, 0);
  if (!application) return application;
  TRY(choose_setting(setting, *application));
  application->origin = base::is_path(name) ? std::filesystem::absolute(name).string() : name;
  if (!application->setting.empty()) application->origin += "+" + application->setting;
  return application;
}

Result<std::vector<Application>> load_applications(const std::string& name_or_path) {
  std::vector<std::string> names{name_or_path};
  if (name_or_path.ends_with(kEachSetting)) {
    const std::string name = name_or_path.substr(0, name_or_path.size() - kEachSetting.size());
    TRY(const auto application, load(name, 0));
    if (application.settings.empty())
      return fail(fmt::format("application \"{}\"", name), "has no settings", "omit \"+*\"");
    names = setting_names(application);
    for (std::string& each : names) each = fmt::format("{}+{}", name, each);
  }
  std::vector<Application> applications;
  for (const std::string& name : names) {
    TRY(auto application, load_application(name));
    applications.push_back(std::move(application));
  }
  return applications;
}

Result<Application> parse_application(std::string_view text, const std::string& file_name) {
  TRY(const auto root, StrictTable::parse(text, file_name));
  Result<Application> application =
      interpret(root, std::filesystem::path(file_name).parent_path(), 0);
  if (!application) return application;
  TRY(choose_setting("", *application));
  return application;
}

std::vector<std::string> built_in_applications() {
  return base::names_of(base::built_in(embedded_files()));
}

}  // namespace headcrash::workload
