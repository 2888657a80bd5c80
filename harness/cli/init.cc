// headcrash init: writes a commented file that the user can start from.
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "harness/cli/command.h"
#include "headcrash_starters_embedded.h"
#include "plugin/base/text_file.h"

namespace headcrash::cli {
namespace {

struct InitArguments {
  std::string what, file;
};

std::vector<std::string> kinds() {
  std::vector<std::string> names;
  for (const starters::EmbeddedFile& file : starters::embedded_files())
    names.push_back(std::filesystem::path(file.name).stem().string());
  return names;
}

std::string_view text_of(const std::string& kind) {
  for (const starters::EmbeddedFile& file : starters::embedded_files())
    if (std::filesystem::path(file.name).stem() == kind) return file.text;
  return {};
}

/// Returns an example command that uses the file.
std::string use_of(const std::string& kind, const std::string& file) {
  if (kind == "adapter")
    return fmt::format("headcrash explore --fs {} --workload ace-seq1/17", file);
  return fmt::format("headcrash {} {} --plan", kind == "benchmark" ? "bench" : "campaign", file);
}

int init(const InitArguments& arguments) {
  // The name must end in .toml, so that other commands recognise it as the name of a file.
  std::string file = arguments.file.empty() ? "my-" + arguments.what + ".toml" : arguments.file;
  if (!file.ends_with(".toml"))
    return report_error({file, "does not end in .toml", fmt::format("name it {}.toml", file)},
                        false);
  std::error_code error;
  if (std::filesystem::exists(file, error))
    return report_error({file, "already exists", "choose another name, or remove this file"},
                        false);
  if (const auto written = base::write_text_file(file, text_of(arguments.what)); !written)
    return report_error(written.error(), false);
  fmt::print("{}\nedit this file, then run: {}\n", file, use_of(arguments.what, file));
  return kFine;
}

}  // namespace

void add_init(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "init", "Writes a commented campaign, benchmark or adapter as a starting point");
  const auto arguments = std::make_shared<InitArguments>();
  accept_only(command->add_option("WHAT", arguments->what, "campaign, benchmark or adapter"),
              kinds())
      ->required();
  command->add_option("FILE", arguments->file, "The new file; default: my-WHAT.toml");
  command->footer(
      "Examples:\n  headcrash init campaign\n  headcrash init benchmark b.toml\n  headcrash init adapter myfs.toml");
  command->callback([arguments, &exit_code] { exit_code = init(*arguments); });
}

}  // namespace headcrash::cli
