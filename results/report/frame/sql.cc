#include "results/report/frame/sql.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "plugin/base/csv.h"
#include "results/db/statement.h"
#include "results/report/frame/embedded_text.h"

namespace headcrash::report {
namespace {

constexpr std::size_t kCellWidthMost = 60;
constexpr std::size_t kTablesMost = 1000;

/// Authorizer that permits only the actions that queries need: reading, functions and recursion.
int allow_reading(void*, int action, const char*, const char*, const char*, const char*) {
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_FUNCTION:
    case SQLITE_RECURSIVE:
      return SQLITE_OK;
    default:
      return SQLITE_DENY;
  }
}

/// Installs the connection's authorizer while a query is being prepared. The destructor removes it.
class ReadOnlyAuthorizer {
 public:
  explicit ReadOnlyAuthorizer(sqlite3* handle) : handle_(handle) {
    sqlite3_set_authorizer(handle_, allow_reading, nullptr);
  }
  ~ReadOnlyAuthorizer() { sqlite3_set_authorizer(handle_, nullptr, nullptr); }
  ReadOnlyAuthorizer(const ReadOnlyAuthorizer&) = delete;
  ReadOnlyAuthorizer& operator=(const ReadOnlyAuthorizer&) = delete;

 private:
  sqlite3* handle_;
};

std::string text_of(const Value& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *integer);
  if (const auto* real = std::get_if<double>(&value)) return fmt::format("{}", *real);
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  return {};
}

/// Returns a value as one line of at most kCellWidthMost characters.
std::string cell(const Value& value) {
  std::string text = text_of(value);
  std::replace(text.begin(), text.end(), '\n', ' ');
  if (text.size() <= kCellWidthMost) return text;
  std::size_t end = kCellWidthMost - 3;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80)
    --end;  // do not split a character
  return text.substr(0, end) + "...";
}

bool is_number(const Value& value) {
  return std::holds_alternative<std::int64_t>(value) || std::holds_alternative<double>(value);
}

/// Returns false if the text contains more than one statement. SQLite prepares only the first
/// statement, so the rest of the text is checked: it may contain only blanks and comments.
bool single_statement(sqlite3* handle, const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  const char* rest = nullptr;
  if (sqlite3_prepare_v2(handle, sql.c_str(), -1, &statement, &rest) != SQLITE_OK) return true;
  sqlite3_finalize(statement);
  statement = nullptr;
  const bool single = sqlite3_prepare_v2(handle, rest, -1, &statement, nullptr) == SQLITE_OK &&
                      statement == nullptr;
  sqlite3_finalize(statement);
  return single;
}

Result<std::int64_t> newest_run(db::Database& database) {
  return db::query_integer(database.handle(), "SELECT coalesce(max(id), 0) FROM run");
}

Result<SqlAnswer> rows_of(db::Statement& statement, std::size_t rows_most) {
  SqlAnswer answer;
  for (int i = 0; i < statement.columns(); ++i) answer.columns.push_back(statement.column_name(i));
  while (true) {
    TRY(const auto more, statement.step());
    if (!more) return answer;
    if (answer.rows.size() == rows_most) {
      answer.cut = true;
      return answer;
    }
    auto& row = answer.rows.emplace_back();
    for (int i = 0; i < statement.columns(); ++i) row.push_back(statement.value(i));
  }
}

}  // namespace

Result<SqlAnswer> ask(db::Database& database, std::string_view sql, std::optional<std::int64_t> run,
                      std::size_t rows_most) {
  const std::string named = query_text(std::string(sql));
  const std::string text = named.empty() ? std::string(sql) : named;
  if (!run) {
    TRY(const auto newest, newest_run(database));
    run = newest;
  }
  const ReadOnlyAuthorizer authorizer(database.handle());
  if (!single_statement(database.handle(), text))
    return fail("query", "has more than one statement", "run them one after the other");
  auto statement = db::Statement::prepare(database.handle(), text);
  if (!statement)
    return fail(statement.error().subject, statement.error().problem,
                "use a SELECT; `headcrash query` without a query lists tables and queries");
  statement->bind_named(":run", *run);
  return rows_of(*statement, rows_most);
}

Result<SqlAnswer> tables(db::Database& database) {
  TRY(auto statement,
      db::Statement::prepare(
          database.handle(),
          "SELECT m.name AS \"table\", group_concat(c.name, ', ') AS columns FROM sqlite_schema m, "
          "pragma_table_info(m.name) c WHERE m.type = 'table' GROUP BY m.name ORDER BY m.name"));
  return rows_of(statement, kTablesMost);
}

std::vector<std::string> query_names() {
  std::vector<std::string> names;
  const auto queries = parse_queries(embedded_text("queries.sql"));
  if (!queries) return names;
  for (const auto& [name, sql] : *queries)
    // Only texts that end with a semicolon are queries. Others are clauses that queries share.
    if (sql.ends_with(';')) names.push_back(name);
  return names;
}

std::string as_table(const SqlAnswer& answer) {
  std::vector<std::size_t> widths;
  widths.reserve(answer.columns.size());
  for (const std::string& column : answer.columns) widths.push_back(column.size());
  for (const auto& row : answer.rows)
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], cell(row[i]).size());
  std::string text, rule;
  const auto pad = [](std::string& line) {
    line.erase(line.find_last_not_of(' ') + 1);
    line += '\n';
  };
  for (std::size_t i = 0; i < widths.size(); ++i) {
    text += fmt::format("{:<{}}  ", answer.columns[i], widths[i]);
    rule += std::string(widths[i], '-') + "  ";
  }
  pad(text);
  pad(rule);
  text += rule;
  for (const auto& row : answer.rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i)
      line += is_number(row[i]) ? fmt::format("{:>{}}  ", cell(row[i]), widths[i])
                                : fmt::format("{:<{}}  ", cell(row[i]), widths[i]);
    pad(line);
    text += line;
  }
  return text;
}

std::string as_csv(const SqlAnswer& answer) {
  constexpr std::string_view kLineEnd = "\r\n";
  std::string text = base::csv_line(answer.columns, kLineEnd);
  for (const auto& row : answer.rows) {
    base::CsvLine cells;
    for (const auto& value : row) cells.push_back(text_of(value));
    text += base::csv_line(cells, kLineEnd);
  }
  return text;
}

std::string as_json(const SqlAnswer& answer) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const auto& row : answer.rows) {
    nlohmann::ordered_json object = nlohmann::ordered_json::object();
    for (std::size_t i = 0; i < row.size(); ++i)
      std::visit(
          [&](const auto& value) {
            if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::monostate>) {
              object[answer.columns[i]] = nullptr;
            } else {
              object[answer.columns[i]] = value;
            }
          },
          row[i]);
    rows.push_back(std::move(object));
  }
  return rows.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace headcrash::report
