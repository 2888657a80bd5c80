// Creates messages for SQLite's result codes. The primary code determines the hint for the user.
// The extended code and errno appear only in SQLite's text.
#include "results/db/sqlite_error.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <system_error>

namespace headcrash::db {
namespace {

std::string file_of(sqlite3* handle) {
  const char* name = handle == nullptr ? nullptr : sqlite3_db_filename(handle, "main");
  return name == nullptr || *name == '\0' ? "results database" : name;
}

/// Returns SQLite's text and, if an operating-system call failed, its errno.
std::string own_words(sqlite3* handle) {
  std::string text = sqlite3_errmsg(handle);
  const int code = sqlite3_errcode(handle) & 0xff;
  const int system_errno = sqlite3_system_errno(handle);
  if ((code == SQLITE_CANTOPEN || code == SQLITE_IOERR) && system_errno != 0) {
    text += fmt::format(" ({})", std::generic_category().message(system_errno));
  }
  return text;
}

}  // namespace

Error damaged(const std::filesystem::path& file, const std::string& detail) {
  return Error{
      file.string(), "is damaged: " + detail,
      fmt::format("restore a backup, or recover the readable data with: sqlite3 '{}' .recover",
                  file.string())};
}

Error sqlite_error(sqlite3* handle, const std::string& doing) {
  const std::string file = file_of(handle);
  const std::string prefix = doing.empty() ? std::string{} : doing + " failed: ";
  switch (sqlite3_errcode(handle) & 0xff) {
    case SQLITE_NOTADB:
      return {file, "is not a database", "use another file; this file is unchanged"};
    case SQLITE_CORRUPT:
      return damaged(file, own_words(handle));
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return {file, prefix + "it cannot be written",
              "check the permissions of the file and of its folder"};
    case SQLITE_FULL:
      return {file, prefix + "no space is left", "free some space; earlier records are safe"};
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {file, prefix + "it is locked by another process",
              "wait until that process has ended, or write to another file and merge the files "
              "later"};
    case SQLITE_CANTOPEN:
      return {file, prefix + own_words(handle),
              "check that the folder exists and can be read and written"};
    case SQLITE_IOERR:
      return {file, prefix + own_words(handle), "check the disk that contains the file"};
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
      return {file, prefix + "a row does not fit the schema (" + own_words(handle) + ")",
              "this is a bug in headcrash; the row was not stored"};
    default:
      return {file, prefix + own_words(handle), {}};
  }
}

}  // namespace headcrash::db
