// Adds the options, and finds the source lines of stacks (stack_options.h).
#include "harness/cli/stack_options.h"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/audit/source_place.h"
#include "harness/explorer/explain/issuers.h"

namespace headcrash::cli {
namespace {

/// Adds source lines to the stacks of recordings. Reads the files only for frames that are new.
class SourceLines {
 public:
  explicit SourceLines(std::vector<std::string> files) : files_(std::move(files)) {}

  Result<void> add_to(explorer::Issuers& issuers) {
    std::set<std::string> unknown;
    for (const std::string& frame : issuers.frames())
      if (frames_.insert(frame).second) unknown.insert(frame);
    if (!unknown.empty()) {
      TRY(auto lines, audit::kernel_source_lines(unknown, files_));
      lines_.merge(lines);
    }
    if (lines_.empty() && !frames_.empty())
      return fail(files_.front(), "contains no source lines for the functions in the stacks",
                  "give the image of the kernel that the guest runs, with debug information");
    issuers.add_source_lines(lines_);
    return {};
  }

 private:
  std::vector<std::string> files_;
  std::set<std::string> frames_;
  std::map<std::string, std::string> lines_;
};

}  // namespace

void add_stacks_options(CLI::App& command, explorer::DiskOptions& disk) {
  CLI::Option* const stacks = command.add_flag(
      "--stacks", disk.issuers,
      "Also record the kernel's stack of each write and flush; a lost write is then shown with the "
      "function and the thread that issued it");
  command
      .add_option_function<std::vector<std::string>>(
          "--debug-symbols",
          [&disk](const std::vector<std::string>& files) {
            disk.describe_issuers = [lines = std::make_shared<SourceLines>(files)](auto& issuers) {
              return lines->add_to(issuers);
            };
          },
          "Image of the guest's kernel, or of a module, with debug information; the stacks then "
          "have source lines; may be repeated")
      ->needs(stacks)
      ->check(CLI::ExistingFile)
      ->allow_extra_args(false);
}

}  // namespace headcrash::cli
