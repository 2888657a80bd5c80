// Defines the default jobs (usual_jobs.h).
#include "harness/bench/usual_jobs.h"

#include <fmt/format.h>

#include "harness/workload/timed/dbench_load.h"
#include "headcrash_bench_embedded.h"

namespace headcrash::bench {
namespace {

using timed::DbenchKind;
using timed::DbenchOperation;

constexpr std::uint64_t kDbenchPercent = 3;

/// Returns the directory of one client. dbench replaces the 1 in "client1" with the client's
/// number.
std::string folder_of(std::uint32_t number) {
  return fmt::format(R"(\clients\client1\d{})", number % timed::kDbenchFolders);
}

std::string path_of(const DbenchOperation& operation, std::uint32_t more_renames = 0) {
  const std::uint32_t renames = operation.renames + more_renames;
  const std::string suffix = renames == 0 ? "" : fmt::format(".{}", renames);
  return fmt::format(R"({}\f{}{})", folder_of(operation.number), operation.number, suffix);
}

/// Formats an operation as a line of a dbench 4 loadfile. The disposition of NTCreateX is 2 to
/// create and 1 to open. A file's handle is its number plus an offset.
std::string dbench_line(const DbenchOperation& operation) {
  constexpr std::uint32_t kFirstHandle = 10'000;
  const std::uint32_t handle = kFirstHandle + operation.number;
  const std::string path = path_of(operation);
  switch (operation.kind) {
    case DbenchKind::create:
      return fmt::format("NTCreateX \"{}\" 0x40 0x2 {} NT_STATUS_OK\n", path, handle);
    case DbenchKind::open:
      return fmt::format("NTCreateX \"{}\" 0x40 0x1 {} NT_STATUS_OK\n", path, handle);
    case DbenchKind::missing:
      return fmt::format("NTCreateX \"{}\\none{}\" 0x40 0x1 {} NT_STATUS_OBJECT_NAME_NOT_FOUND\n",
                         folder_of(operation.number), operation.number, handle);
    case DbenchKind::close:
      return fmt::format("Close {} NT_STATUS_OK\n", handle);
    case DbenchKind::read:
      return fmt::format("ReadX {} {} {} {} NT_STATUS_OK\n", handle, operation.offset,
                         operation.length, operation.length);
    case DbenchKind::write:
      return fmt::format("WriteX {} {} {} {} NT_STATUS_OK\n", handle, operation.offset,
                         operation.length, operation.length);
    case DbenchKind::flush:
      return fmt::format("Flush {} NT_STATUS_OK\n", handle);
    case DbenchKind::unlink:
      return fmt::format("Unlink \"{}\" 0x6 NT_STATUS_OK\n", path);
    case DbenchKind::rename:
      return fmt::format("Rename \"{}\" \"{}\" NT_STATUS_OK\n", path, path_of(operation, 1));
    case DbenchKind::list:
      return fmt::format("FIND_FIRST \"{}\\*\" 260 1366 0 NT_STATUS_OK\n",
                         folder_of(operation.number));
    case DbenchKind::query_path:
      return fmt::format("QUERY_PATH_INFORMATION \"{}\" 1004 NT_STATUS_OK\n", path);
    case DbenchKind::query_file:
      return fmt::format("QUERY_FILE_INFORMATION {} 258 NT_STATUS_OK\n", handle);
    case DbenchKind::query_space:
      return "QUERY_FS_INFORMATION 1 NT_STATUS_OK\n";
  }
  return {};
}

}  // namespace

std::string usual_fio_job() {
  return "[random-write]\n"
         "rw=randwrite\n"
         "bs=4k\n"
         "size=8M\n"
         "number_ios=500\n"
         "fsync=1\n"
         "verify=crc32c\n";
}

std::string usual_postmark_job() {
  return "set location {root}\n"
         "set number 500\n"
         "set transactions 500\n"
         "set size 500 10000\n"
         "run\n"
         "quit\n";
}

std::string usual_dbench_job() {
  std::string job = "Deltree \"\\clients\\client1\" NT_STATUS_OK\n";
  const auto folder = [&](const std::string& path) {
    job +=
        fmt::format("NTCreateX \"{}\" 0x1 0x2 9999 NT_STATUS_OK\nClose 9999 NT_STATUS_OK\n", path);
  };
  job += "Mkdir \"\\clients\" NT_STATUS_OK\n";
  folder("\\clients\\client1");
  for (std::uint32_t i = 0; i < timed::kDbenchFolders; ++i) folder(folder_of(i));
  for (const DbenchOperation& operation : timed::dbench_load(kDbenchPercent).operations)
    job += dbench_line(operation);
  return job;
}

std::string usual_sqlite_job() {
  std::string job =
      "CREATE TABLE entry (id INTEGER PRIMARY KEY, name TEXT NOT NULL, body BLOB NOT NULL);\n"
      "CREATE INDEX entry_name ON entry(name);\n";
  constexpr int kTransactions = 200;
  for (int i = 1; i <= kTransactions; ++i) {
    job += fmt::format(
        "BEGIN; INSERT INTO entry(name, body) VALUES ('name {}', zeroblob({})); "
        "UPDATE entry SET body = zeroblob({}) WHERE id = {}; DELETE FROM entry WHERE id = {}; COMMIT;\n",
        i * 7919 % 1000, 100 + i * 37 % 900, 100 + i * 53 % 900, (i + 1) / 2, i - 20);
  }
  return job;
}

std::string usual_compile_job() {
  for (const EmbeddedFile& file : embedded_files()) {
    if (file.name == "compile.sh") return std::string(file.text);
  }
  return {};
}

}  // namespace headcrash::bench
