#pragma once
// Test helpers for pages: check IDs and links, and check that the page contains no foreign scripts.

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "results/report/frame/embedded_text.h"

namespace headcrash::report {

/// Returns every text between `from` and `to`.
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

/// Returns the page without the frame's script, which must occur exactly once, at the end.
inline std::string without_own_script(std::string page) {
  const std::string own = "<script>\n" + std::string(embedded_text("page.js")) + "</script>\n";
  EXPECT_TRUE(page.ends_with(own + "</main>\n</body>\n</html>\n"));
  if (const auto at = page.rfind(own); at != std::string::npos) page.erase(at, own.size());
  return page;
}

/// Checks that no ID occurs twice and that every link within the page has a target.
inline void expect_links_lead_somewhere(const std::string& page) {
  std::set<std::string> ids;
  for (const std::string& id : all_between(page, " id=\"", "\""))
    EXPECT_TRUE(ids.insert(id).second) << "duplicate ID: " << id;
  for (const std::string& id : all_between(page, "href=\"#", "\""))
    EXPECT_TRUE(ids.contains(id)) << "missing ID: " << id;
}

}  // namespace headcrash::report
