#include "results/report/frame/embedded_text.h"

#include "headcrash_report_embedded.h"

namespace headcrash::report {

std::string_view embedded_text(std::string_view name) {
  for (const auto& file : embedded_files()) {
    if (file.name == name) return file.text;
  }
  return {};
}

}  // namespace headcrash::report
