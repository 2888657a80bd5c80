#include "plugin/base/errno_text.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <system_error>

namespace headcrash::base {

std::string errno_text(int error) {
  const char* known = ::strerrorname_np(error);
  if (known == nullptr) return fmt::format("error {}", error);
  switch (error) {
    case EBADMSG:
      return "wrong checksum (EBADMSG)";
    case EUCLEAN:
      return "damaged structure (EUCLEAN)";
    default:
      return fmt::format("{} ({})", std::generic_category().message(error), known);
  }
}

}  // namespace headcrash::base
