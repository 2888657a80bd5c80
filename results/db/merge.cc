#include "results/db/merge.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <map>
#include <set>
#include <system_error>
#include <unordered_map>

#include "results/db/database.h"
#include "results/db/sqlite_error.h"
#include "results/db/statement.h"

namespace headcrash::db {
namespace {

namespace fs = std::filesystem;

using IdMap = std::unordered_map<std::int64_t, std::int64_t>;

/// A run's digest as stored by campaigns. "1f..-0/3" is the first of three shards of the run
/// "1f..".
struct ShardedDigest {
  std::string base;
  unsigned index = 0, count = 1;
  bool sharded = false;  ///< true if the stored text names a shard
};

ShardedDigest split_digest(const std::string& digest) {
  const std::size_t dash = digest.rfind('-');
  const std::size_t slash = digest.rfind('/');
  if (dash == std::string::npos || slash == std::string::npos || slash < dash)
    return {.base = digest};
  ShardedDigest split{.base = digest.substr(0, dash), .sharded = true};
  const char *begin = digest.data() + dash + 1, *middle = digest.data() + slash,
             *end = digest.data() + digest.size();
  const bool good = std::from_chars(begin, middle, split.index).ptr == middle &&
                    std::from_chars(middle + 1, end, split.count).ptr == end &&
                    split.index < split.count;
  return good ? split : ShardedDigest{.base = digest};
}

/// A run in the merged database, while the merge is in progress.
struct MergedRun {
  std::int64_t id = 0;
  std::string base, name, versions;
  /// Start and end times of a run without shards. They identify the run, which is never merged with
  /// another run.
  std::string execution;
  unsigned count = 1;
  std::map<unsigned, std::int64_t> planned;  ///< by shard
  std::set<unsigned> finished;
  bool same_count = true, same_versions = true;
  /// Pairs of a database and a shard that have already been included.
  std::map<std::pair<std::size_t, unsigned>, bool> from;

  bool whole() const { return same_count && planned.size() == count && finished.size() == count; }
};

struct TableShape {
  std::string name;
  std::vector<std::string> columns;
};

/// Returns the column's index in a SELECT of all columns. If the table lacks the column, returns
/// the number of columns.
int column_of(const TableShape& table, const char* column) {
  return static_cast<int>(std::find(table.columns.begin(), table.columns.end(), column) -
                          table.columns.begin());
}

/// Returns the table to which an ID column refers, such as "trial" for "trial_id"; empty for other
/// columns.
std::string referred(const std::string& column) {
  return column.ends_with("_id") ? column.substr(0, column.size() - 3) : std::string{};
}

Result<std::vector<std::string>> texts(sqlite3* handle, const std::string& sql) {
  TRY(auto select, Statement::prepare(handle, sql));
  std::vector<std::string> values;
  TRY(select.each_row([&] { values.push_back(select.text(0)); }));
  return values;
}

/// Returns all tables except `run`, each after the tables to which it refers.
Result<std::vector<TableShape>> tables_in_order(sqlite3* handle) {
  TRY(auto names, texts(handle,
                        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'run' AND "
                        "name NOT LIKE 'sqlite%' ORDER BY name"));
  std::vector<TableShape> waiting, ordered;
  for (const std::string& name : names) {
    TRY(auto columns,
        texts(handle, fmt::format("SELECT name FROM pragma_table_info('{}') ORDER BY cid", name)));
    waiting.push_back({name, std::move(columns)});
  }
  std::set<std::string> there{"run"};
  while (!waiting.empty()) {
    const auto ready = std::find_if(waiting.begin(), waiting.end(), [&](const TableShape& table) {
      return std::all_of(table.columns.begin(), table.columns.end(),
                         [&](const std::string& column) {
                           const std::string other = referred(column);
                           return other.empty() || there.contains(other);
                         });
    });
    if (ready == waiting.end())
      return fail("schema", "the foreign keys of the tables form a cycle");
    there.insert(ready->name);
    ordered.push_back(std::move(*ready));
    waiting.erase(ready);
  }
  return ordered;
}

/// Merges JSON descriptions of tools and hosts. A member with different values becomes a list of
/// these values, so that a report of the merged run can name all of them.
Result<void> blend(sqlite3* output, std::int64_t run, const char* column, const std::string& text) {
  TRY(auto update,
      Statement::prepare(
          output,
          fmt::format(
              "UPDATE run SET {0} = (SELECT json_group_object(key, iif(n = 1, one, json(many))) FROM ("
              "SELECT key, count(*) AS n, min(value) AS one, json_group_array(value) AS many FROM ("
              "SELECT DISTINCT key, value FROM (SELECT m.key, e.value FROM json_each(run.{0}) m, "
              "json_each(iif(m.type = 'array', m.value, json_array(m.value))) e "
              "UNION ALL SELECT key, value FROM json_each(?1)) ORDER BY value) GROUP BY key)) "
              "WHERE id = ?2 AND {0} <> ?1 AND json_valid({0}) AND json_valid(?1)",
              column)));
  return update.bind(text, run).run();
}

class Merge {
 public:
  Merge(Database output, fs::path folder)
      : output_(std::move(output)), folder_(std::move(folder)) {}

  Result<void> prepare() {
    TRY(auto tables, tables_in_order(output_.handle()));
    tables_ = std::move(tables);
    return {};
  }

  Result<void> add(const fs::path& path) {
    TRY(auto input, Database::open(path, Database::Access::read_only));
    // Reads everything from one snapshot, because a campaign may still be writing.
    TRY(execute(input.handle(), "BEGIN"));
    TRY(auto transaction, Transaction::begin(output_.handle()));
    ids_.clear();
    auto done = add_runs(input);
    for (std::size_t i = 0; done && i < tables_.size(); ++i) done = add_rows(input, tables_[i]);
    if (done) done = transaction.commit();
    if (!done) return done;
    ++outcome_.databases;
    return {};
  }

  Result<MergeOutcome> finish() {
    outcome_.runs = runs_.size();
    for (const MergedRun& run : runs_) {
      TRY(tell(run));
    }
    TRY(std::move(output_).close());
    return outcome_;
  }

 private:
  Result<void> add_runs(Database& input) {
    TRY(auto select,
        Statement::prepare(
            input.handle(),
            "SELECT id, kind, name, configuration, digest, seed, started_at, finished_at, trials_planned, host, "
            "versions, accelerator FROM run ORDER BY id"));
    return select.each_row([&]() -> Result<void> {
      const ShardedDigest digest = split_digest(select.text(4));
      const std::string execution = digest.sharded ? "" : select.text(6) + "/" + select.text(7);
      const std::pair place{outcome_.databases, digest.index};
      auto run = std::find_if(runs_.begin(), runs_.end(), [&](const MergedRun& each) {
        return each.base == digest.base && each.execution == execution &&
               !each.from.contains(place);
      });
      // Omit the run, because another database contains the same run.
      if (run != runs_.end() && !digest.sharded) {
        run->from[place] = true;
        ++outcome_.doubled_runs;
        return {};
      }
      if (run == runs_.end()) {
        TRY(auto made, new_run(select, digest));
        made.execution = execution;
        run = runs_.insert(runs_.end(), made);
      } else {
        TRY(auto update,
            Statement::prepare(output_.handle(),
                               "UPDATE run SET started_at = min(started_at, ?) WHERE id = ?"));
        TRY(update.bind(select.text(6), run->id).run());
        for (const auto& [column, text] :
             {std::pair("versions", select.text(10)), std::pair("host", select.text(9))}) {
          TRY(blend(output_.handle(), run->id, column, text));
        }
      }
      run->from[place] = true;
      run->same_count = run->same_count && run->count == digest.count;
      run->same_versions = run->same_versions && run->versions == select.text(10);
      run->planned[digest.index] = select.integer(8);
      if (!select.is_null(7)) {
        run->finished.insert(digest.index);
        ended_[run->id] = std::max(ended_[run->id], select.text(7));
      }
      ids_["run"][select.integer(0)] = run->id;
      return {};
    });
  }

  Result<MergedRun> new_run(Statement& row, const ShardedDigest& digest) {
    TRY(auto insert,
        Statement::prepare(
            output_.handle(),
            "INSERT INTO run (kind, name, configuration, digest, seed, started_at, trials_planned, "
            "host, versions, accelerator) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
    TRY(insert
            .bind(row.text(1), row.text(2), row.text(3),
                  digest.base + (digest.sharded ? "-0/1" : ""), row.integer(5), row.text(6),
                  row.integer(8), row.text(9), row.text(10), row.text(11))
            .run());
    return MergedRun{.id = sqlite3_last_insert_rowid(output_.handle()),
                     .base = digest.base,
                     .name = row.text(2),
                     .versions = row.text(10),
                     .count = digest.count};
  }

  Result<void> add_rows(Database& input, const TableShape& table) {
    TRY(auto select, Statement::prepare(input.handle(),
                                        fmt::format("SELECT {} FROM {}",
                                                    fmt::join(table.columns, ", "), table.name)));
    TRY(auto insert,
        Statement::prepare(
            output_.handle(),
            fmt::format("INSERT INTO {} ({}) VALUES ({})", table.name,
                        fmt::join(table.columns, ", "),
                        fmt::join(std::vector<std::string>(table.columns.size(), "?"), ", "))));
    const auto run_column = column_of(table, "run_id");
    return select.each_row([&]() -> Result<void> {
      if (table.name == "trial" && ids_["run"].contains(select.integer(run_column))) {
        TRY(const auto doubled, is_doubled(input, select, table));
        if (doubled) return {};
        ++outcome_.trials;
      }
      return copy_row(input, select, table, insert);
    });
  }

  /// Copies a row, unless its trial was omitted.
  Result<void> copy_row(Database& input, const Statement& row, const TableShape& table,
                        Statement& insert) {
    std::vector<Value> values;
    std::int64_t own_id = 0;
    for (int i = 0; i < row.columns(); ++i) {
      const std::string& column = table.columns[static_cast<std::size_t>(i)];
      const std::string other = referred(column);
      if (column == "id") {
        own_id = row.integer(i);
        values.emplace_back();
      } else if (!other.empty() && !row.is_null(i)) {
        const auto place = ids_[other].find(row.integer(i));
        if (place == ids_[other].end()) return {};
        values.emplace_back(place->second);
      } else if (table.name == "artefact" && column == "path") {
        values.emplace_back(moved(input.path(), row.text(i)));
      } else {
        values.push_back(row.value(i));
      }
    }
    TRY(insert.bind_all(values).run());
    if (own_id != 0) {
      const std::int64_t id = sqlite3_last_insert_rowid(output_.handle());
      ids_[table.name][own_id] = id;
      if (table.name == "trial") origin_[id] = input.path();
    }
    return {};
  }

  /// Returns true if an earlier database already contained this trial.
  Result<bool> is_doubled(Database& input, const Statement& row, const TableShape& table) {
    TRY(auto look,
        Statement::prepare(output_.handle(),
                           "SELECT id, verdict FROM trial WHERE run_id = ? AND key = ?"));
    const std::string key = row.text(column_of(table, "key")),
                      verdict = row.text(column_of(table, "verdict"));
    TRY(const auto found,
        look.bind(ids_["run"][row.integer(column_of(table, "run_id"))], key).step());
    if (!found) return false;
    if (look.text(1) != verdict) {
      return fail(input.path().string(),
                  fmt::format("trial {} has the verdict {} in this database, but {} in {}", key,
                              verdict, look.text(1), origin_[look.integer(0)].string()),
                  "omit one of the two databases, and repeat both trials with headcrash replay");
    }
    ++outcome_.doubled;
    return true;
  }

  /// Converts a path relative to the directory of `database` to a path relative to the directory of
  /// the merged database.
  std::string moved(const fs::path& database, const std::string& path) {
    const fs::path whole = (fs::absolute(database).parent_path() / path).lexically_normal();
    std::error_code problem;
    if (!fs::exists(whole, problem)) ++outcome_.artefacts_missing;
    return whole.lexically_relative(folder_).generic_string();
  }

  Result<void> tell(const MergedRun& run) {
    std::int64_t planned = 0;
    for (const auto& [shard, trials] : run.planned) planned += trials;
    TRY(auto update,
        Statement::prepare(output_.handle(),
                           "UPDATE run SET trials_planned = ?, finished_at = ? WHERE id = ?"));
    const auto ended = run.whole() ? std::optional(ended_[run.id]) : std::nullopt;
    TRY(update.bind(planned, ended, run.id).run());
    if (!run.whole()) {
      outcome_.remarks.push_back(
          run.same_count
              ? fmt::format("{}: {} of {} shards are present, {} of them finished", run.name,
                            run.planned.size(), run.count, run.finished.size())
              : fmt::format("{}: the runs were divided into different numbers of shards, so it is "
                            "unknown whether all shards are present",
                            run.name));
    }
    if (!run.same_versions)
      outcome_.remarks.push_back(
          run.name + ": the shards were run with different versions of the tools or the kernel");
    return {};
  }

  Database output_;
  fs::path folder_;  ///< the merged database's directory
  std::vector<TableShape> tables_;
  std::vector<MergedRun> runs_;
  std::map<std::int64_t, std::string> ended_;
  /// for each table: old ID of a row of the current database -> new ID
  std::map<std::string, IdMap> ids_;
  /// For each merged trial: the database from which it comes.
  std::unordered_map<std::int64_t, fs::path> origin_;
  MergeOutcome outcome_;
};

Result<void> check_inputs(const std::vector<fs::path>& inputs, const fs::path& output) {
  std::error_code problem;
  if (fs::exists(output, problem)) {
    return fail(output.string(), "already exists",
                "choose a new file; merging into an existing file is not supported");
  }
  std::set<fs::path> seen;
  for (const fs::path& input : inputs) {
    if (!seen.insert(fs::weakly_canonical(input, problem)).second)
      return fail(input.string(), "is listed twice", "list each database once");
  }
  return {};
}

/// Syncs the file, and then renames it to its final name.
Result<void> publish(const fs::path& draft, const fs::path& output) {
  const int file = ::open(draft.c_str(), O_RDONLY | O_CLOEXEC);
  const bool synced = file >= 0 && ::fsync(file) == 0;
  std::error_code problem(errno, std::generic_category());
  if (file >= 0) ::close(file);
  if (synced) {
    problem.clear();
    fs::rename(draft, output, problem);
    if (!problem) return {};
  }
  return fail(output.string(), "cannot be written: " + problem.message(),
              "choose another path with -o");
}

Result<MergeOutcome> merge_into(const std::vector<fs::path>& inputs, const fs::path& draft,
                                const fs::path& folder) {
  TRY(auto database, Database::open(draft, Database::Access::read_write));
  Merge merge(std::move(database), folder);
  TRY(merge.prepare());
  for (const fs::path& input : inputs) {
    TRY(merge.add(input));
  }
  return merge.finish();
}

void remove_draft(const fs::path& draft) {
  std::error_code ignored;
  for (const char* suffix : {"", "-wal", "-shm", "-journal"})
    fs::remove(draft.string() + suffix, ignored);
}

}  // namespace

Result<MergeOutcome> merge_databases(const std::vector<fs::path>& inputs, const fs::path& output) {
  TRY(check_inputs(inputs, output));
  const fs::path draft = output.string() + ".merging";
  remove_draft(draft);
  auto outcome = merge_into(inputs, draft, fs::absolute(output).lexically_normal().parent_path());
  if (outcome) {
    if (auto placed = publish(draft, output); !placed) outcome = forward_error(placed);
  }
  if (!outcome) remove_draft(draft);
  return outcome;
}

}  // namespace headcrash::db
