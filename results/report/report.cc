// The page is written beside its place and then renamed, so that a reader never sees half of one and a
// failure leaves the report before it.
#include "results/report/report.h"

#include <cerrno>
#include <fstream>
#include <system_error>

#include "results/report/facts.h"
#include "results/report/page.h"

namespace headcrash::report {
namespace {

Result<void> write_whole(const std::filesystem::path& path, const std::string& text) {
  const std::filesystem::path draft = path.string() + ".new";
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
  return fail(path.string(), "cannot be written: " + problem.message(), "choose another folder with -o");
}

}  // namespace

Result<ReportResult> write_report(db::Database& database, const ReportOptions& options) {
  const auto facts = gather(database, options.run);
  if (!facts) return pass_on(facts);
  const auto html = page(*facts);
  if (!html) return pass_on(html);
  std::error_code problem;
  std::filesystem::create_directories(options.output, problem);
  if (problem) {
    return fail(options.output.string(), "cannot be made: " + problem.message(),
                "choose another folder with -o");
  }
  const auto path = options.output / "report.html";
  if (auto written = write_whole(path, *html); !written) return pass_on(written);
  return ReportResult{path, facts->run.id, facts->run.recorded, facts->unexpected()};
}

}  // namespace headcrash::report
