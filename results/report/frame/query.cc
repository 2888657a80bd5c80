#include "results/report/frame/query.h"

#include <algorithm>

#include "results/db/statement.h"
#include "results/report/frame/embedded_text.h"

namespace headcrash::report {
namespace {

constexpr std::string_view kName = "-- name: ";
constexpr std::string_view kAfter = "-- after: ";

struct Block {
  std::string name, after, sql;
};

std::string trimmed(std::string text) {
  text.erase(text.find_last_not_of(" \n\t") + 1);
  return text;
}

std::vector<Block> blocks_of(std::string_view text) {
  std::vector<Block> blocks;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size() - 1);
    const std::string_view line = text.substr(0, end + 1);
    text.remove_prefix(end + 1);
    if (line.starts_with(kName)) {
      blocks.push_back({trimmed(std::string(line.substr(kName.size()))), {}, {}});
    } else if (blocks.empty()) {
      continue;  // a line of the introduction, which precedes the first name
    } else if (line.starts_with(kAfter)) {
      blocks.back().after = trimmed(std::string(line.substr(kAfter.size())));
    } else {
      blocks.back().sql += line;
    }
  }
  return blocks;
}

const std::map<std::string, std::string>& queries() {
  static const auto parsed = parse_queries(embedded_text("queries.sql"));
  static const std::map<std::string, std::string> none;
  return parsed ? *parsed : none;
}

}  // namespace

Result<std::map<std::string, std::string>> parse_queries(std::string_view text) {
  std::map<std::string, std::string> result;
  for (const auto& block : blocks_of(text)) {
    std::string sql = trimmed(block.sql);
    if (!block.after.empty()) {
      const auto before = result.find(block.after);
      if (before == result.end())
        return fail("queries.sql: " + block.name, "follows unknown " + block.after);
      sql.insert(0, before->second + "\n");
    }
    if (!result.emplace(block.name, std::move(sql)).second)
      return fail("queries.sql: " + block.name, "is defined twice");
  }
  return result;
}

std::string query_text(const std::string& name) {
  const auto found = queries().find(name);
  return found == queries().end() ? std::string{} : found->second;
}

Result<Table> run_query(db::Database& database, const std::string& name, std::int64_t run) {
  const std::string sql = query_text(name);
  if (sql.empty()) return fail("queries.sql", "has no query " + name);
  auto statement = db::Statement::prepare(database.handle(), sql);
  if (!statement)
    return fail(statement.error().subject, "query " + name + ": " + statement.error().problem);
  statement->bind_named(":run", run);
  Table table;
  for (int i = 0; i < statement->columns(); ++i)
    table.columns.emplace(statement->column_name(i), i);
  TRY(statement->each_row([&] {
    auto& values = table.values.emplace_back();
    for (int i = 0; i < statement->columns(); ++i) values.push_back(statement->value(i));
  }));
  return table;
}

const Value& Row::at(const std::string& column) const {
  static const Value null;
  const auto found = columns_->find(column);
  return found == columns_->end() ? null : (*values_)[found->second];
}

std::optional<double> Row::maybe_real(const std::string& column) const {
  const auto& value = at(column);
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  return std::nullopt;
}

std::optional<std::int64_t> Row::maybe_integer(const std::string& column) const {
  const auto& value = at(column);
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return *integer;
  if (const auto* real = std::get_if<double>(&value)) return static_cast<std::int64_t>(*real);
  return std::nullopt;
}

double Row::real(const std::string& column) const {
  return maybe_real(column).value_or(0);
}
std::int64_t Row::integer(const std::string& column) const {
  return maybe_integer(column).value_or(0);
}
std::string Row::text(const std::string& column) const {
  const auto* text = std::get_if<std::string>(&at(column));
  return text == nullptr ? std::string{} : *text;
}

}  // namespace headcrash::report
