#pragma once
// Anybody's SQL over a results database, read-only: what `headcrash query` runs.
//
// A statement that would write, attach another file, or change a pragma is refused by SQLite itself
// (the authorizer), before it runs; the connection is read-only as well.

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
  bool cut = false;  ///< there are more rows than were asked for
};

/// `sql`: one statement, or the name of one of the report's queries. `:run` in it is `run`, by
/// default the newest. Errors: SQLite's own words; more than one statement; a statement that is not
/// a question.
Result<SqlAnswer> ask(db::Database& database, std::string_view sql, std::optional<std::int64_t> run,
                      std::size_t rows_most);

/// Tables and their columns.
Result<SqlAnswer> tables(db::Database& database);

/// Names of the queries that stand by themselves.
std::vector<std::string> query_names();

// One answer as text, ending with a newline.
std::string as_table(const SqlAnswer& answer);  ///< aligned columns under a ruled head
std::string as_csv(const SqlAnswer& answer);    ///< RFC 4180, with a head
std::string as_json(const SqlAnswer& answer);   ///< a list of objects

}  // namespace headcrash::report
