// See command_text.h.
#include "plugin/base/command_text.h"

namespace headcrash::base {

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

std::string shell_quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char each : text) {
    if (each == '\'') {
      quoted += "'\\''";
    } else {
      quoted += each;
    }
  }
  return quoted + "'";
}

std::string last_line(std::string_view output) {
  while (output.ends_with('\n')) output.remove_suffix(1);
  return std::string(output.substr(output.rfind('\n') + 1));
}

}  // namespace headcrash::base
