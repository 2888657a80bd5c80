#pragma once
// Merges the databases of shards into one, as if one machine had run everything.
//
//   a.db: run "seq2-sample" 1f..-0/3 --+
//   b.db: run "seq2-sample" 1f..-1/3 --+--> merged.db: run "seq2-sample" 1f..-0/1
//   c.db: run "seq2-sample" 1f..-2/3 --+
//
// Runs whose digests differ only in the shard become one run. The merged run is finished if every
// shard is present and finished; otherwise `headcrash campaign --resume` on the merged database
// runs the missing trials. Artefacts are not copied: their paths are rewritten relative to the
// merged database's directory.
//
// A run without shards, such as an experiment's run, is one execution. Such a run is never joined
// with another run, and its duplicates are omitted. Two executions of an experiment are two runs.
//
// Tables are copied generically: the IDs in the columns `id` and `X_id` are replaced by those of
// the merged rows, so tables that later schemas add are merged without changes here.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "plugin/base/result.h"

namespace headcrash::db {

struct MergeOutcome {
  std::size_t databases = 0, runs = 0, trials = 0;
  /// Number of runs of experiments that were omitted, because another database contains the same
  /// run.
  std::size_t doubled_runs = 0;
  /// Number of trials that were skipped, because a database merged earlier contains them with the
  /// same verdict.
  std::size_t doubled = 0;
  /// Number of artefacts whose files do not exist at the paths recorded in their database.
  std::size_t artefacts_missing = 0;
  /// Sentences such as "seq2-sample: 2 of 3 shards are there; ..." or "seq2-sample: made with
  /// different versions".
  std::vector<std::string> remarks;
};

/// Creates `output` completely or not at all; the file must not exist. Fails if a database cannot
/// be read, has another schema or is listed twice. Also fails if two databases have the same trial
/// with different verdicts.
Result<MergeOutcome> merge_databases(const std::vector<std::filesystem::path>& inputs,
                                     const std::filesystem::path& output);

}  // namespace headcrash::db
