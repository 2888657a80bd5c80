#pragma once
// The frame that all pages have: head, a list of contents that stays, sections with an address
// each, and the one script. The page says the same without the script, which adds buttons to copy
// commands and opens what is folded for a link and for paper.

#include <string>
#include <string_view>
#include <vector>

#include "results/report/campaign/facts.h"

namespace headcrash::report {

/// A part that the list of contents names. Without a title it is left out.
struct Section {
  std::string id, title;
  std::string html;
};

struct Page {
  std::string title;    ///< of the window
  std::string opening;  ///< HTML: the answer, above all sections
  std::vector<Section> sections;
};

std::string framed_page(const Page& page);

/// The page of a campaign. Errors: gnuplot's.
Result<std::string> page(const Facts& facts);

/// `content` (HTML) between head and foot, with style and palette, and a page's own style after
/// them. The page forbids browsers to load anything, whatever the content says.
std::string whole_page(const std::string& title, const std::string& content,
                       std::string_view style = {});

}  // namespace headcrash::report
