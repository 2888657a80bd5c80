// Queries earlier trials (samples.h).
#include "harness/bench/samples.h"

#include "results/db/statement.h"

namespace headcrash::bench {
namespace {

Result<std::optional<EarlierTrials>> experience(db::Database& database,
                                                const std::string& filesystem, const Cell& cell) {
  TRY(auto select,
      db::Statement::prepare(
          database.handle(),
          "SELECT count(*), avg(wall_ms) FROM trial WHERE repetition IS NOT NULL AND verdict = 'measured' AND "
          "(?1 = '' OR filesystem = ?1) AND device = ?2 AND workload = ?3 AND parameters = ?4"));
  TRY(const auto row,
      select
          .bind(filesystem, cell.device->name, cell.workload->name, parameters_text(*cell.workload))
          .step());
  if (!row || select.integer(0) == 0) return std::nullopt;
  return EarlierTrials{select.integer(0), select.real(1) / 1000};
}

}  // namespace

Result<std::map<std::string, CellSamples>> samples_of(db::Database& database, std::int64_t run) {
  // A trial without measurements yields one row with an empty label.
  TRY(auto select,
      db::Statement::prepare(
          database.handle(),
          "SELECT t.key, t.verdict, coalesce(m.label, ''), CASE WHEN EXISTS (SELECT 1 FROM metric x "
          "WHERE x.phase_id = p.id AND x.name = ?2) THEN m.elapsed_ms / max(m.operations, 1) "
          "ELSE coalesce(m.quiescent_ms, m.elapsed_ms, 0) END FROM trial t "
          "LEFT JOIN phase p ON p.trial_id = t.id LEFT JOIN measure m ON m.phase_id = p.id AND m.measured = 1 "
          "WHERE t.run_id = ?1 ORDER BY t.repetition, t.id, p.ordinal"));
  select.bind(run, db::kFixedTimeMetric);
  std::map<std::string, CellSamples> samples;
  std::string last;
  while (true) {
    TRY(const auto row, select.step());
    if (!row) return samples;
    const std::string key = select.text(0), label = select.text(2);
    CellSamples& cell = samples[key.substr(0, key.rfind('/'))];
    if (key != last) cell.count(select.text(1) == db::kMeasured);
    last = key;
    if (!label.empty() && select.text(1) == db::kMeasured) cell.add(label, select.real(3));
  }
}

Result<std::optional<EarlierTrials>> earlier_trials(db::Database& database, const Cell& cell) {
  return experience(database, cell.filesystem->name, cell);
}
Result<std::optional<EarlierTrials>> similar_trials(db::Database& database, const Cell& cell) {
  return experience(database, "", cell);
}

}  // namespace headcrash::bench
