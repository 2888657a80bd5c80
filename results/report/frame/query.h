#pragma once
// The named queries of the report, which are in the embedded file queries.sql. Queries have a
// single parameter, and results are read by column name.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results/db/database.h"
#include "results/db/statement.h"

namespace headcrash::report {

using db::Value;

/// A row of a Table. A missing column reads as NULL. Integers and reals convert to each other; NULL
/// converts to 0 or "".
class Row {
 public:
  Row(const std::map<std::string, std::size_t>& columns, const std::vector<Value>& values)
      : columns_(&columns), values_(&values) {}
  std::int64_t integer(const std::string& column) const;
  double real(const std::string& column) const;
  std::string text(const std::string& column) const;
  std::optional<std::int64_t> maybe_integer(const std::string& column) const;
  std::optional<double> maybe_real(const std::string& column) const;

 private:
  const Value& at(const std::string& column) const;
  const std::map<std::string, std::size_t>* columns_;
  const std::vector<Value>* values_;
};

struct Table {
  std::map<std::string, std::size_t> columns;
  std::vector<std::vector<Value>> values;

  std::size_t size() const { return values.size(); }
  Row row(std::size_t index) const { return {columns, values[index]}; }
};

/// Parses named queries and returns a map from names to SQL. A block with a line "-- after: NAME"
/// is preceded by the SQL of the block NAME. Fails if such a NAME is unknown, or if a name occurs
/// twice.
Result<std::map<std::string, std::string>> parse_queries(std::string_view text);

/// Returns the executable SQL of an embedded query; empty if the name is unknown.
std::string query_text(const std::string& name);

Result<Table> run_query(db::Database& database, const std::string& name, std::int64_t run);

}  // namespace headcrash::report
