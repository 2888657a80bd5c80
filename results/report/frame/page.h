#pragma once
// The frame that all pages share: a header, a fixed table of contents, sections that can be linked
// to, and one script. The page has the same content without the script. The script adds buttons
// that copy commands, and opens collapsed parts for links and print.

#include <string>
#include <string_view>
#include <vector>

#include "results/report/campaign/facts.h"

namespace headcrash::report {

/// A section listed in the table of contents. A section without a title is omitted.
struct Section {
  std::string id, title;
  std::string html;
};

struct Page {
  std::string title;    ///< title of the browser window
  std::string opening;  ///< HTML: the answer, above all sections
  std::vector<Section> sections;
};

std::string framed_page(const Page& page);

/// Returns a campaign's page. Fails with gnuplot's errors.
Result<std::string> page(const Facts& facts);

/// Puts `content` (HTML) between header and footer, with the common style and palette, followed by
/// the page's own style. The page forbids browsers to load external resources, whatever the content
/// contains.
std::string whole_page(const std::string& title, const std::string& content,
                       std::string_view style = {});

}  // namespace headcrash::report
