#pragma once
// The frame of all pages: a header, a fixed table of contents, sections with IDs for links, and one
// script. Without the script, the page has the same content. The script adds buttons that copy
// commands, and expands collapsed parts for links and for printing.

#include <string>
#include <string_view>
#include <vector>

#include "results/report/campaign/facts.h"

namespace headcrash::report {

/// A section that is listed in the table of contents. A section without a title is omitted.
struct Section {
  std::string id, title;
  std::string html;
};

struct Page {
  std::string title;    ///< title of the browser window
  std::string opening;  ///< HTML above all sections: the answer
  std::vector<Section> sections;
};

std::string framed_page(const Page& page);

/// Returns a campaign's page. Fails if gnuplot fails.
Result<std::string> page(const Facts& facts);

/// Puts `content` (HTML) between header and footer. The page has the common style and palette,
/// followed by its own style. Whatever `content` contains, the page forbids browsers to load
/// external resources.
std::string whole_page(const std::string& title, const std::string& content,
                       std::string_view style = {});

}  // namespace headcrash::report
