#pragma once
// Building HTML: escaping, and tables that become a list of cards on a narrow screen.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headcrash::report {

/// Any bytes as valid UTF-8: what is not becomes U+FFFD, as do control characters other than tab
/// and line feed.
std::string valid_utf8(std::string_view bytes);
/// Text for element content and for attributes in double quotes.
std::string escape(std::string_view text);

/// Cells are HTML already; `number` columns are set right.
struct Column {
  std::string title;
  enum class Kind { text, number } kind = Kind::text;
};
std::string html_table(const std::vector<Column>& columns,
                       const std::vector<std::vector<std::string>>& rows,
                       const std::string& css_class = {});

/// `<details>` with a plain-text summary.
std::string details(const std::string& summary, const std::string& html,
                    const std::string& css_class = {}, bool open = false);
/// The same with an id, and HTML as its summary. On paper a fold is as the reader has left it;
/// those of the class `on-paper` are open there.
struct Fold {
  std::string summary, html, id = {}, css_class = {};
  bool open = false;
};
std::string folded(const Fold& fold);
/// The query as it ran, for pasting into the sqlite3 shell.
std::string query_note(const std::string& name, std::int64_t run);

/// A count in a table: nothing is muted, anything else has the class if one is given.
std::string number(std::int64_t n, const char* css_class = nullptr);
/// How many came out how, side by side.
std::string outcome_bar(std::int64_t clean, std::int64_t replayed, std::int64_t lost,
                        std::int64_t other);

/// The colour and name of a file system, the same in every report; hollow for a mode of one, and
/// for a `variant`.
std::string filesystem_name(const std::string& filesystem, bool variant = false);
std::string filesystem_dot(const std::string& filesystem, bool variant = false);
/// File system, and device and workload in small print.
std::string cell_name(const std::string& filesystem, const std::string& device,
                      const std::string& workload);

/// A command on a line of its own, which the page's script gives a button to copy it.
std::string command_line(const std::string& command);

/// The id of what `name` (any text) calls; different names have different ids.
std::string anchor(std::string_view kind, std::string_view name);
/// A heading that links to itself, so that its place can be sent. `title` is text.
std::string anchored(int level, const std::string& id, const std::string& title);

/// A bar with its interval as a line and a stroke for what it is compared with; all are shares of
/// the bar's whole width.
struct Meter {
  double share = 0;
  std::optional<double> low = {}, high = {}, mark = {};
  std::string css_class = {};
};
std::string meter(const Meter& meter);

}  // namespace headcrash::report
