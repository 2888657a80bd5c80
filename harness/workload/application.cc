// Reads the applications' TOML files (application.h).
#include "harness/workload/application.h"

#include <fmt/format.h>

#include <filesystem>

#include "headcrash_workload_embedded.h"
#include "plugin/base/named_file.h"
#include "plugin/base/strict_table.h"

namespace headcrash::workload {
namespace {

using base::StrictTable;

constexpr int kDeepestBase = 4;
constexpr std::size_t kFilesMost = 64;

Result<Application> interpret(const StrictTable& root, int depth);

Result<Application> load(const std::string& name_or_path, int depth) {
  const auto found = base::find_named_file("application", name_or_path, base::built_in(embedded_files()));
  if (!found) return pass_on(found);
  const Result<StrictTable> root = StrictTable::parse(found->text, found->file);
  if (!root) return pass_on(root);
  Result<Application> application = interpret(*root, depth);
  if (application) application->name = found->name;
  return application;
}

Result<void> read_files(const StrictTable& root, Application& application) {
  const auto table = root.table("files");
  if (!table) return pass_on(table);
  if (!*table) return {};
  for (const std::string& name : (*table)->keys()) {
    if (name.empty() || name.starts_with('.') || name.find('/') != std::string::npos)
      return fail((*table)->subject(name), "is no plain file name", "leave out folders and leading dots");
    if (const auto taken = (*table)->take(name, application.files[name]); !taken) return taken;
  }
  if (application.files.size() > kFilesMost)
    return fail(root.subject("files"), fmt::format("are more than {}", kFilesMost));
  return {};
}

Result<void> check_complete(const StrictTable& root, const Application& application) {
  if (application.run.empty())
    return fail(root.subject("run"), "is missing", "give the commands that make data persistent");
  if (application.verify.empty())
    return fail(root.subject("verify"), "is missing", "give the commands that look for what was persisted");
  return {};
}

Result<Application> interpret(const StrictTable& root, int depth) {
  const auto known = root.only(
      {"base", "title", "tools", "files", "prepare", "run", "verify", "each-command-persists", "expected"});
  if (!known) return pass_on(known);
  Application application;
  std::string base;
  if (const auto taken = root.take("base", base); !taken) return pass_on(taken);
  if (!base.empty()) {
    if (depth >= kDeepestBase) return fail(root.subject("base"), "goes in a circle or too deep");
    const Result<Application> parent = load(base, depth + 1);
    if (!parent) return pass_on(parent);
    application = *parent;
  }
  for (const auto& read :
       {root.take("title", application.title), root.take("tools", application.tools),
        root.take("prepare", application.prepare), root.take("run", application.run),
        root.take("verify", application.verify),
        root.take("each-command-persists", application.each_command_persists), read_files(root, application),
        adapters::take_expected(root, application.expected), check_complete(root, application)}) {
    if (!read) return pass_on(read);
  }
  return application;
}

}  // namespace

std::vector<std::vector<std::string>> commands(const std::vector<std::string>& lines, std::string_view root) {
  std::vector<std::vector<std::string>> argvs;
  const std::pair<std::string_view, std::string_view> words[] = {{"{root}", root},
                                                                 {"{files}", kApplicationFolder}};
  for (std::string line : lines) {
    for (const auto& [from, to] : words) {
      for (std::size_t at = line.find(from); at != std::string::npos; at = line.find(from, at + to.size()))
        line.replace(at, from.size(), to);
    }
    argvs.push_back({"sh", "-c", std::move(line)});
  }
  return argvs;
}

Result<Application> load_application(const std::string& name_or_path) {
  Result<Application> application = load(name_or_path, 0);
  if (!application) return application;
  application->origin =
      base::is_path(name_or_path) ? std::filesystem::absolute(name_or_path).string() : name_or_path;
  return application;
}

Result<Application> parse_application(std::string_view text, const std::string& file_name) {
  const Result<StrictTable> root = StrictTable::parse(text, file_name);
  if (!root) return pass_on(root);
  return interpret(*root, 0);
}

std::vector<std::string> built_in_applications() {
  return base::names_of(base::built_in(embedded_files()));
}

}  // namespace headcrash::workload
