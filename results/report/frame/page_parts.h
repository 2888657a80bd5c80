#pragma once
// What tests ask of a page: its ids and links, and that it has no script but its own.

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "results/report/frame/embedded_text.h"

namespace headcrash::report {

/// What stands between `from` and `to`, each time.
inline std::vector<std::string> all_between(const std::string& text, const std::string& from,
                                            const std::string& to) {
  std::vector<std::string> found;
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + 1)) {
    const auto start = at + from.size();
    found.push_back(text.substr(start, text.find(to, start) - start));
  }
  return found;
}

inline std::size_t times(const std::string& text, const std::string& what) {
  return all_between(text, what, "").size();
}

/// The page without the script of the frame, which must be in it once, at its end.
inline std::string without_own_script(std::string page) {
  const std::string own = "<script>\n" + std::string(embedded_text("page.js")) + "</script>\n";
  EXPECT_TRUE(page.ends_with(own + "</main>\n</body>\n</html>\n"));
  if (const auto at = page.rfind(own); at != std::string::npos) page.erase(at, own.size());
  return page;
}

/// No id is there twice, and every link within the page leads to one.
inline void expect_links_lead_somewhere(const std::string& page) {
  std::set<std::string> ids;
  for (const std::string& id : all_between(page, " id=\"", "\""))
    EXPECT_TRUE(ids.insert(id).second) << "twice: " << id;
  for (const std::string& id : all_between(page, "href=\"#", "\""))
    EXPECT_TRUE(ids.contains(id)) << "nowhere: " << id;
}

}  // namespace headcrash::report
