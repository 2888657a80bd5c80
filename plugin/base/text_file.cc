#include "plugin/base/text_file.h"

#include <cerrno>
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
    return fail(path, "cannot be read" + (error != 0 ? ": " + std::generic_category().message(error) : ""),
                "check the path and its permissions");
  }
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() > kLargestFileBytes) {
    return fail(path, "is larger than 1 MiB", "this does not look like a TOML file of headcrash");
  }
  return text;
}

}  // namespace headcrash::base
