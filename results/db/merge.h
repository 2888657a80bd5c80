#pragma once
// Databases of shards into one: what many machines did as if one had done it.
//
//   a.db: run "seq2-sample" 1f..-0/3 --+
//   b.db: run "seq2-sample" 1f..-1/3 --+--> merged.db: run "seq2-sample" 1f..-0/1
//   c.db: run "seq2-sample" 1f..-2/3 --+
//
// Runs whose digests are the same but for the shard become one run. It is finished when every shard
// is there and finished; else `headcrash campaign --resume` on the merged database does what is
// missing. Artefacts are not copied: their paths are rewritten relative to the merged database's
// folder.
//
// A run without shards, as an experiment's, is one execution: it joins no other run, and a copy of
// it is left out. The same experiment executed twice is two runs.
//
// Tables are copied by their own description: a column `id` and every `X_id` are moved behind the
// rows that are there already, so that a table which a later schema adds is merged without a word
// here.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "plugin/base/result.h"

namespace headcrash::db {

struct MergeOutcome {
  std::size_t databases = 0, runs = 0, trials = 0;
  std::size_t doubled_runs = 0;  ///< experiments that several databases hold, each taken once
  std::size_t doubled = 0;  ///< trials that an earlier database had already, with the same verdict
  std::size_t artefacts_missing = 0;  ///< files that are not where their database says
  /// Sentences: "seq2-sample: 2 of 3 shards are there; ...", "seq2-sample: made with different
  /// versions".
  std::vector<std::string> remarks;
};

/// Writes `output` whole or not at all; it must not exist. Errors: a database that cannot be read
/// or is of another schema, the same one twice, a trial that two databases have with different
/// verdicts.
Result<MergeOutcome> merge_databases(const std::vector<std::filesystem::path>& inputs,
                                     const std::filesystem::path& output);

}  // namespace headcrash::db
