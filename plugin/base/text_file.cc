#include "plugin/base/text_file.h"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace headcrash::base {
namespace {
constexpr std::size_t kLargestFileBytes = 1 << 20;
}

Result<std::string> read_text_file(const std::string& path) {
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  std::string text(kLargestFileBytes + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!in.is_open() || in.bad()) {
    const int error = errno;
    return fail(
        path, "cannot be read" + (error != 0 ? ": " + std::generic_category().message(error) : ""),
        "check the path and its permissions");
  }
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() > kLargestFileBytes) {
    return fail(path, "is larger than 1 MiB", "use a text file of at most 1 MiB");
  }
  return text;
}

Result<void> write_text_file(const std::string& path, std::string_view text) {
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  int error = file == nullptr ? errno : 0;
  if (file != nullptr) {
    if (std::fwrite(text.data(), 1, text.size(), file) != text.size()) error = errno;
    if (std::fclose(file) != 0 && error == 0) error = errno;
  }
  if (error == 0) return {};
  return fail(path, "cannot be written: " + std::generic_category().message(error),
              "choose a folder that exists and has free space");
}

Result<void> write_script(const std::string& path, std::string_view text) {
  TRY(write_text_file(path, text));
  using std::filesystem::perms;
  std::error_code ignored;
  std::filesystem::permissions(path, perms::owner_exec | perms::group_exec | perms::others_exec,
                               std::filesystem::perm_options::add, ignored);
  return {};
}

}  // namespace headcrash::base
