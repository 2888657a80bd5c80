#include "results/db/statement.h"

#include "results/db/sqlite_error.h"

namespace headcrash::db {

Result<Statement> Statement::prepare(sqlite3* handle, std::string_view sql) {
  sqlite3_stmt* raw = nullptr;
  if (sqlite3_prepare_v2(handle, sql.data(), static_cast<int>(sql.size()), &raw, nullptr) !=
      SQLITE_OK) {
    return tl::unexpected(sqlite_error(handle));
  }
  return Statement(raw);
}

void Statement::bind_one(int index, const std::string& value) {
  note(sqlite3_bind_text64(statement_.get(), index, value.data(), value.size(), SQLITE_TRANSIENT,
                           SQLITE_UTF8));
}

Statement& Statement::bind_named(const std::string& name, std::int64_t value) {
  const int index = sqlite3_bind_parameter_index(statement_.get(), name.c_str());
  if (index != 0) bind_one(index, value);
  return *this;
}

Result<bool> Statement::step() {
  sqlite3* handle = sqlite3_db_handle(statement_.get());
  if (bind_code_ != SQLITE_OK) {
    const char* file = sqlite3_db_filename(handle, "main");
    return fail(file == nullptr ? "" : file,
                std::string("cannot bind a value: ") + sqlite3_errstr(bind_code_));
  }
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  auto error = sqlite_error(handle);
  sqlite3_reset(statement_.get());
  return tl::unexpected(std::move(error));
}

Result<void> Statement::run() {
  auto done = each_row([] {});
  if (done) sqlite3_reset(statement_.get());
  return done;
}

std::string Statement::text(int column) const {
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  if (bytes == nullptr) return {};
  return {bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

Value Statement::value(int column) const {
  switch (sqlite3_column_type(statement_.get(), column)) {
    case SQLITE_INTEGER:
      return integer(column);
    case SQLITE_FLOAT:
      return real(column);
    case SQLITE_NULL:
      return {};
    default:
      return text(column);
  }
}

Result<void> execute(sqlite3* handle, const std::string& sql) {
  if (sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    return tl::unexpected(sqlite_error(handle));
  }
  return {};
}

Result<std::int64_t> query_integer(sqlite3* handle, std::string_view sql) {
  TRY(auto statement, Statement::prepare(handle, sql));
  TRY(const auto row, statement.step());
  return row ? statement.integer(0) : 0;
}

Result<Transaction> Transaction::begin(sqlite3* handle) {
  TRY(execute(handle, "BEGIN IMMEDIATE"));
  return Transaction(handle);
}

Result<void> Transaction::commit() {
  auto committed = execute(handle_, "COMMIT");
  if (committed) handle_ = nullptr;
  return committed;
}

Transaction::~Transaction() {
  // Rolls back only if the transaction is still open: a full disk or an I/O error may already have
  // caused a rollback, and a second ROLLBACK would fail.
  if (handle_ != nullptr && sqlite3_get_autocommit(handle_) == 0) {
    sqlite3_exec(handle_, "ROLLBACK", nullptr, nullptr, nullptr);
  }
}

}  // namespace headcrash::db
