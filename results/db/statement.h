#pragma once
// Prepared statements and transactions that end with their scope. Every error names the database
// file.

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "plugin/base/result.h"

namespace headcrash::db {

/// A column value; std::monostate is NULL.
using Value = std::variant<std::monostate, std::int64_t, double, std::string>;

class Statement {
 public:
  static Result<Statement> prepare(sqlite3* handle, std::string_view sql);

  /// Binds all parameters in order: integers, double, text, std::optional of these types (nullopt
  /// is NULL), and Value. Also resets the statement, so that one statement can be used for many
  /// rows.
  template <typename... Values>
  Statement& bind(const Values&... values) {
    sqlite3_reset(statement_.get());
    int index = 0;
    (bind_one(++index, values), ...);
    return *this;
  }
  /// As bind(), if the number of values is known only at run time.
  Statement& bind_all(const std::vector<Value>& values) {
    sqlite3_reset(statement_.get());
    int index = 0;
    for (const Value& value : values) bind_one(++index, value);
    return *this;
  }
  /// Binds the parameter `:name`. Has no effect if the statement has no such parameter, because
  /// queries need not use every parameter.
  Statement& bind_named(const std::string& name, std::int64_t value);

  /// Returns true if there is a row to read, false at the end.
  Result<bool> step();
  /// Runs a statement that returns no rows.
  Result<void> run();
  /// Calls `take` for each row. If `take` returns an error, no more rows are read.
  template <typename Take>
  Result<void> each_row(const Take& take) {
    while (true) {
      TRY(const auto row, step());
      if (!row) return {};
      if constexpr (std::is_void_v<std::invoke_result_t<Take>>) {
        take();
      } else
        TRY(take());
    }
  }

  int columns() const { return sqlite3_column_count(statement_.get()); }
  std::string column_name(int column) const {
    return sqlite3_column_name(statement_.get(), column);
  }
  bool is_null(int column) const {
    return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
  }
  std::int64_t integer(int column) const { return sqlite3_column_int64(statement_.get(), column); }
  double real(int column) const { return sqlite3_column_double(statement_.get(), column); }
  std::string text(int column) const;
  /// Returns the value of a column. A blob is returned as text.
  Value value(int column) const;

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  explicit Statement(sqlite3_stmt* statement) : statement_(statement) {}
  void note(int code) {
    if (bind_code_ == SQLITE_OK) bind_code_ = code;
  }
  void bind_one(int index, std::int64_t value) {
    note(sqlite3_bind_int64(statement_.get(), index, value));
  }
  void bind_one(int index, int value) { bind_one(index, std::int64_t{value}); }
  void bind_one(int index, bool value) { bind_one(index, std::int64_t{value ? 1 : 0}); }
  void bind_one(int index, double value) {
    note(sqlite3_bind_double(statement_.get(), index, value));
  }
  void bind_one(int index, const std::string& value);
  template <typename T>
  void bind_one(int index, const std::optional<T>& value) {
    if (value) {
      bind_one(index, *value);
    } else {
      bind_one(index, std::monostate{});
    }
  }

  void bind_one(int index, std::monostate) { note(sqlite3_bind_null(statement_.get(), index)); }
  void bind_one(int index, const Value& value) {
    std::visit([&](const auto& held) { bind_one(index, held); }, value);
  }

  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  int bind_code_ = SQLITE_OK;  ///< code of the first failed bind, for step()
};

/// Runs SQL statements that have no parameters and no results.
Result<void> execute(sqlite3* handle, const std::string& sql);
/// Returns the first column of the first row.
Result<std::int64_t> query_integer(sqlite3* handle, std::string_view sql);

/// A write transaction. It takes the write lock at the start, so that concurrent processes wait at
/// the start and do not fail later. Rolls back unless committed.
class Transaction {
 public:
  static Result<Transaction> begin(sqlite3* handle);
  Transaction(Transaction&& other) noexcept : handle_(other.handle_) { other.handle_ = nullptr; }
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();
  Result<void> commit();

 private:
  explicit Transaction(sqlite3* handle) : handle_(handle) {}
  sqlite3* handle_;
};

}  // namespace headcrash::db
