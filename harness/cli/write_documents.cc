// Implements `headcrash write-documents`, which generates files from the command tree. Only the
// build uses it, so the help does not show it.
#include <fmt/format.h>

#include <memory>
#include <string>

#include "harness/cli/app.h"
#include "harness/cli/completions.h"
#include "harness/cli/manual_page.h"
#include "plugin/base/text_file.h"

namespace headcrash::cli {
namespace {

namespace fs = std::filesystem;

Result<void> write(const fs::path& path, const std::string& text) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  return base::write_text_file(path.string(), text);
}

/// Returns the first example of `command` in its own help, or an empty string.
std::string example_of(const CLI::App& command) {
  const std::string footer = command.get_footer();
  const std::size_t at = footer.find("\n  headcrash " + command.get_name());
  if (at == std::string::npos) return {};
  const std::size_t from = footer.find("headcrash", at);
  return footer.substr(from, footer.find('\n', from) - from);
}

/// Returns the page "Which command do I need?" in Markdown.
std::string commands_page(const CLI::App& app) {
  std::string text =
      "# Which command do I need?\n\n"
      "By the end of this page, you will know which command to use and how to call it.\n"
      "`headcrash help COMMAND` shows all options of a command. The build generates this page\n"
      "from the help texts.\n";
  std::string task;
  for (const CLI::App* command : shown_subcommands(app)) {
    if (command->get_group() != task) {
      task = command->get_group();
      text += fmt::format("\n## {}\n\n| command | purpose | example |\n|---|---|---|\n", task);
    }
    text += fmt::format("| {} | {} | <code>{}</code> |\n", command->get_name(),
                        command->get_description(), example_of(*command));
  }
  return text;
}

Result<void> write_all(const fs::path& folder) {
  int unused = 0;
  const auto app = make_app(unused);
  std::error_code error;
  fs::remove_all(folder / "man1", error);  // remove the pages of commands that no longer exist
  std::vector<const CLI::App*> pages = shown_subcommands(*app);
  pages.push_back(app.get());
  for (const CLI::App* page : pages)
    TRY(write(folder / "man1" / (page_name(*app, *page) + ".1"), manual_page(*app, *page)));
  TRY(write(folder / "commands.md", commands_page(*app)));
  TRY(write(folder / "bash" / "headcrash", bash_completion(*app)));
  TRY(write(folder / "zsh" / "_headcrash", zsh_completion(*app)));
  return write(folder / "fish" / "headcrash.fish", fish_completion(*app));
}

}  // namespace

void add_write_documents(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("write-documents", "Writes man pages and completions")->group("");
  const auto folder = std::make_shared<std::string>();
  command->add_option("FOLDER", *folder, "Folder for man1, commands.md, bash, zsh and fish")
      ->required();
  command->callback([folder, &exit_code] {
    if (const auto written = write_all(*folder); !written)
      exit_code = report_error(written.error(), false);
  });
}

}  // namespace headcrash::cli
