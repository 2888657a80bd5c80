#pragma once
// Runs the user's SQL on a results database, read-only, for `headcrash query`.
//
// SQLite's authorizer rejects writes, attached files and changed pragmas before execution. In
// addition, the connection is read-only.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results/report/frame/query.h"

namespace headcrash::report {

struct SqlAnswer {
  std::vector<std::string> columns;  ///< in the order of the statement
  std::vector<std::vector<Value>> rows;
  bool cut = false;  ///< true if the row limit omitted some rows
};

/// Runs one statement, or the report's query with the name `sql`. The parameter `:run` is `run`, or
/// the newest run by default. Fails if SQLite fails (the error contains SQLite's text), if there is
/// more than one statement, or if the statement is not a query.
Result<SqlAnswer> ask(db::Database& database, std::string_view sql, std::optional<std::int64_t> run,
                      std::size_t rows_most);

/// Returns all tables and their columns.
Result<SqlAnswer> tables(db::Database& database);

/// Returns the names of the queries that can be run by themselves.
std::vector<std::string> query_names();

// ---- conversions of an answer to text that ends with a newline
std::string as_table(const SqlAnswer& answer);  ///< aligned columns, with a header and a rule
std::string as_csv(const SqlAnswer& answer);    ///< RFC 4180, including a header
std::string as_json(const SqlAnswer& answer);   ///< a list of objects

}  // namespace headcrash::report
