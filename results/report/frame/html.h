#pragma once
// Generates HTML: escaping, and tables that become a list of cards on a narrow screen.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headcrash::report {

/// Converts any bytes to valid UTF-8. Invalid bytes, and control characters except tab and line
/// feed, become U+FFFD.
std::string valid_utf8(std::string_view bytes);
/// Escapes text for use as element content and in double-quoted attributes.
std::string escape(std::string_view text);

/// A column of a table whose cells are HTML. `number` columns are right-aligned.
struct Column {
  std::string title;
  enum class Kind { text, number } kind = Kind::text;
};
std::string html_table(const std::vector<Column>& columns,
                       const std::vector<std::vector<std::string>>& rows,
                       const std::string& css_class = {});

/// Returns `<details>` with a plain-text summary.
std::string details(const std::string& summary, const std::string& html,
                    const std::string& css_class = {}, bool open = false);
/// A collapsible `<details>` element with an ID and an HTML summary. In print, elements with the
/// class `on-paper` are expanded; all others stay as the reader left them.
struct Fold {
  std::string summary, html, id = {}, css_class = {};
  bool open = false;
};
std::string folded(const Fold& fold);
/// Returns the executed query in a form that can be pasted into the sqlite3 shell.
std::string query_note(const std::string& name, std::int64_t run);

/// Returns a count for a table. Zero is greyed; other numbers have the class `css_class`, if given.
std::string number(std::int64_t n, const char* css_class = nullptr);
/// Returns a bar that shows the counts of all outcomes next to each other.
std::string outcome_bar(std::int64_t clean, std::int64_t replayed, std::int64_t lost,
                        std::int64_t other);

/// Returns a file system's name with its colour mark, which is the same in every report. The mark
/// is hollow if `variant` is true or if the name is a mode of a file system.
std::string filesystem_name(const std::string& filesystem, bool variant = false);
std::string filesystem_dot(const std::string& filesystem, bool variant = false);
/// Returns the file system, with the device and the workload in small print.
std::string cell_name(const std::string& filesystem, const std::string& device,
                      const std::string& workload);

/// Returns HTML that shows a command on its own line. The page's script adds a copy button.
std::string command_line(const std::string& command);

/// Returns an ID for `name`, which may be any text; different names have different IDs.
std::string anchor(std::string_view kind, std::string_view name);
/// Returns a heading that links to itself, so that readers can share its address. `title` is plain
/// text.
std::string anchored(int level, const std::string& id, const std::string& title);

/// A bar for a value. The value's interval is drawn as a line, and its reference as a stroke. All
/// numbers are fractions of the bar's maximum width.
struct Meter {
  double share = 0;
  std::optional<double> low = {}, high = {}, mark = {};
  std::string css_class = {};
};
std::string meter(const Meter& meter);

}  // namespace headcrash::report
