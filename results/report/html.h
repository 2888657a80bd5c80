#pragma once
// Building HTML: escaping, and tables that become a list of cards on a narrow screen.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "results/report/facts.h"

namespace headcrash::report {

/// Any bytes as valid UTF-8: what is not becomes U+FFFD, as do control characters other than tab and line
/// feed.
std::string valid_utf8(std::string_view bytes);
/// Text for element content and for attributes in double quotes.
std::string escape(std::string_view text);

/// Cells are HTML already; `number` columns are set right.
struct Column {
  std::string title;
  enum class Kind { text, number } kind = Kind::text;
};
std::string html_table(const std::vector<Column>& columns, const std::vector<std::vector<std::string>>& rows,
                       const std::string& css_class = {});

/// `<details>` with a plain-text summary.
std::string details(const std::string& summary, const std::string& html, const std::string& css_class = {},
                    bool open = false);
/// The query as it ran, for pasting into the sqlite3 shell.
std::string query_note(const std::string& name, std::int64_t run);

/// A count in a table: nothing is muted, anything else has the class if one is given.
std::string number(std::int64_t n, const char* css_class = nullptr);
/// How many came out how, side by side.
std::string outcome_bar(std::int64_t clean, std::int64_t replayed, std::int64_t lost, std::int64_t other);

/// The colour and name of a file system, the same everywhere on the page.
std::string filesystem_name(const Facts& facts, const std::string& filesystem);
/// File system, and device and workload in small print.
std::string cell_name(const Facts& facts, const std::string& filesystem, const std::string& device,
                      const std::string& workload);

}  // namespace headcrash::report
