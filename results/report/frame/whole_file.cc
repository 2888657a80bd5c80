#include "results/report/frame/whole_file.h"

#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <system_error>

namespace headcrash::report {

Result<void> write_whole(const std::filesystem::path& path, const std::string& text) {
  const std::filesystem::path draft = path.string() + '.' + std::to_string(getpid()) + ".new";
  std::ofstream out(draft, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  std::error_code problem;
  if (!out) {
    problem = std::error_code(errno, std::generic_category());
  } else {
    std::filesystem::rename(draft, path, problem);
  }
  if (!problem) return {};
  std::error_code ignored;
  std::filesystem::remove(draft, ignored);
  return fail(path.string(), "cannot be written: " + problem.message(), "use another folder");
}

Result<void> make_folder(const std::filesystem::path& folder, const std::string& hint) {
  std::error_code problem;
  if (!folder.empty()) std::filesystem::create_directories(folder, problem);
  if (problem) return fail(folder.string(), "cannot be created: " + problem.message(), hint);
  return {};
}

}  // namespace headcrash::report
