// Implements `headcrash write-documents`, which generates files from the command tree. Only the
// build uses it, so help does not show it.
#include <memory>

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

Result<void> write_all(const fs::path& folder) {
  int unused = 0;
  const auto app = make_app(unused);
  std::error_code error;
  fs::remove_all(folder / "man1", error);  // removes pages of commands that no longer exist
  std::vector<const CLI::App*> pages = shown_subcommands(*app);
  pages.push_back(app.get());
  for (const CLI::App* page : pages)
    TRY(write(folder / "man1" / (page_name(*app, *page) + ".1"), manual_page(*app, *page)));
  TRY(write(folder / "bash" / "headcrash", bash_completion(*app)));
  TRY(write(folder / "zsh" / "_headcrash", zsh_completion(*app)));
  return write(folder / "fish" / "headcrash.fish", fish_completion(*app));
}

}  // namespace

void add_write_documents(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("write-documents", "Writes man pages and completions")->group("");
  const auto folder = std::make_shared<std::string>();
  command->add_option("FOLDER", *folder, "Folder for man1, bash, zsh and fish")->required();
  command->callback([folder, &exit_code] {
    if (const auto written = write_all(*folder); !written)
      exit_code = report_error(written.error(), false);
  });
}

}  // namespace headcrash::cli
