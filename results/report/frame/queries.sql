-- Every number of a report comes from one of these queries. A block begins with its name. A block with `after` is
-- preceded by the named block, which contains shared WITH clauses. The only parameter is :run. The page prints each
-- query as it ran, so that it can be pasted into the sqlite3 shell.

-- name: newest_run
SELECT max(id) AS id FROM run;

-- name: run
SELECT r.*, (SELECT count(*) FROM trial WHERE run_id = r.id) AS recorded,
  (SELECT count(*) FROM trial WHERE run_id = r.id AND late) AS late,
  CAST(round((julianday(r.finished_at) - julianday(r.started_at)) * 86400) AS INTEGER) AS seconds
FROM run r WHERE r.id = :run;

-- name: filesystems
SELECT DISTINCT filesystem FROM trial WHERE run_id = :run ORDER BY filesystem;

-- name: judged
-- The effect of each verdict on the data. `known` is a failure that known findings explain (trial.known). `other` is neither kept nor lost: repaired by fsck, a broken rule of a stack,
-- a hang, an oops, a recovery that is not idempotent, or a failure of the harness. `must` is the required outcome of a control.
WITH judged AS (
  SELECT *, coalesce(control, CASE expected WHEN 'loss' THEN 'lose' END) AS must, CASE
      WHEN known <> '' THEN 'known'
      WHEN verdict IN ('clean', 'replayed') THEN verdict
      WHEN verdict IN ('lost-synced-data', 'silent-loss', 'wrong-data', 'stale-data', 'zero-length', 'resurrected',
                       'non-atomic-rename', 'unmountable', 'not-repairable') THEN 'lost'
      ELSE 'other' END AS outcome
  FROM trial WHERE run_id = :run)

-- name: cells
-- after: judged
-- A cell is judged as a whole. `clean` requires that every trial is clean or replayed; `any` has no requirement. A
-- control that must `lose` requires losses in at least three trials (in all, if there are fewer), or in one trial of
-- which many crash states were explored. `damage` requires one trial with loss, with damage that the check found, or
-- with a broken rule of its stack. `keep` requires that every trial is clean or replayed, or that known findings explain
-- its failures; `keep-after-fsck` also permits repairs.
, cell AS (
  SELECT filesystem, variant, device, workload, expected, must, count(*) AS trials,
    sum(outcome = 'clean') AS clean, sum(outcome = 'replayed') AS replayed,
    sum(outcome = 'lost') AS lost, sum(outcome = 'other') AS other, sum(outcome = 'known') AS known,
    sum(verdict = 'repaired-by-fsck') AS repaired, sum(verdict = 'broken-rule') AS broken_rule,
    sum(verdict IN ('lost-synced-data', 'silent-loss')) AS lost_synced,
    sum(verdict = 'harness-error') AS harness_errors,
    sum(cut_at_ns IS NULL AND device <> 'stage') AS uncut, sum(late) AS late,
    iif(device = 'stage', 1, min(3, count(*))) AS losses_needed
  FROM judged GROUP BY filesystem, variant, device, workload, expected, must),
kept AS (
  SELECT *, CASE WHEN must = 'lose' THEN lost >= losses_needed
      WHEN must = 'damage' THEN lost + repaired + broken_rule >= 1
      WHEN must = 'keep-after-fsck' THEN clean + replayed + repaired + known = trials
      WHEN must = 'keep' OR expected = 'clean' THEN clean + replayed + known = trials END AS met
  FROM cell)
SELECT *,
  CASE WHEN met IS NULL OR met THEN 0 WHEN must = 'lose' THEN trials - lost WHEN must = 'damage' THEN trials
    WHEN must = 'keep-after-fsck' THEN trials - clean - replayed - repaired - known ELSE trials - clean - replayed - known END AS unexpected
FROM kept ORDER BY must IS NULL, filesystem, variant, device, workload, expected, must;

-- name: trials
-- after: judged
SELECT * FROM judged ORDER BY must IS NULL, filesystem, variant, device, workload, expected, must, id;

-- name: verdicts
-- after: judged
SELECT filesystem, expected, must, verdict, outcome, count(*) AS trials
FROM judged GROUP BY filesystem, expected, must, verdict ORDER BY filesystem, expected, must, trials DESC, verdict;

-- name: findings
-- Findings of trials with one cut. The findings of explored crash states are listed with their failures.
SELECT f.* FROM finding f JOIN trial t ON t.id = f.trial_id WHERE t.run_id = :run AND f.crash_state_id IS NULL
ORDER BY f.trial_id, f.id;

-- name: explored
-- Checked crash states by verdict. A failure is a state that was checked again.
SELECT t.filesystem, t.variant, t.workload, t.control, count(DISTINCT t.id) AS trials, count(c.id) AS states,
  sum(c.verdict = 'clean') AS clean, sum(c.verdict = 'replayed') AS replayed,
  sum(c.verdict = 'repaired-by-fsck') AS repaired,
  sum(c.verdict IN ('lost-synced-data', 'silent-loss', 'wrong-data', 'stale-data', 'zero-length', 'resurrected',
                    'non-atomic-rename', 'unmountable', 'not-repairable')) AS lost,
  sum(c.verdict IN ('recovery-not-idempotent', 'hang', 'oops')) AS other, sum(c.verdict = 'harness-error') AS harness_errors,
  sum(c.in_guest) AS in_guest, sum(x.confirmed) AS confirmed, sum(NOT x.confirmed) AS unconfirmed
FROM trial t LEFT JOIN crash_state c ON c.trial_id = t.id LEFT JOIN failure x ON x.crash_state_id = c.id
WHERE t.run_id = :run AND t.device = 'stage'
GROUP BY t.filesystem, t.variant, t.workload, t.control
ORDER BY t.control IS NULL, t.filesystem, t.variant, t.workload, t.control;

-- name: stacks
-- after: judged
-- The cells of a run that tested file systems on stacks of block devices. `failed` counts the states that broke a promise.
-- `verdict` is in words: the finding that explains the failures, or their cause.
, cell AS (
  SELECT filesystem, substr(filesystem, instr(filesystem, ':') + 1) AS below, variant, workload, must, count(*) AS trials,
    sum(outcome IN ('clean', 'replayed')) AS kept, sum(outcome = 'lost') AS lost, sum(verdict = 'broken-rule') AS broken,
    sum(outcome = 'known') AS explained, max(known) AS known, max(cause) AS cause, sum(wall_ms) / 1000 AS seconds,
    max(iif(outcome IN ('clean', 'replayed', 'known'), '', verdict || ': ' || summary)) AS failure,
    sum((SELECT count(*) FROM crash_state c WHERE c.trial_id = judged.id)) AS states,
    sum((SELECT count(*) FROM crash_state c WHERE c.trial_id = judged.id AND c.verdict NOT IN ('clean', 'replayed'))) AS failed
  FROM judged
  WHERE device = 'stage' AND EXISTS (SELECT 1 FROM trial WHERE run_id = :run AND instr(filesystem, ':') > 0)
  GROUP BY filesystem, variant, workload, must)
SELECT iif(instr(filesystem, ':') = 0, '', substr(below, 1, instr(below || '@', '@') - 1)) AS stack,
  substr(filesystem, 1, min(instr(filesystem || ':', ':'), instr(filesystem || '@', '@')) - 1) AS fs,
  iif(instr(below, '@') = 0, 'default', substr(below, instr(below, '@') + 1)) AS kernel, workload, variant, states, failed,
  CASE WHEN must = 'lose' AND lost > 0 THEN 'control: lost, as it must'
    WHEN must = 'damage' AND lost + broken > 0 THEN 'control: failed, as it must'
    WHEN must IN ('lose', 'damage') THEN 'CONTROL WITHOUT EFFECT'
    WHEN kept = trials THEN 'kept'
    WHEN kept + explained = trials THEN 'known failure ' || known
    WHEN must IS NULL THEN 'lost (nothing promised)' ELSE 'FAILED' END
  || CASE WHEN kept = trials OR must = 'lose' THEN '' WHEN cause <> '' THEN ': ' || cause
    WHEN explained = 0 AND failure <> '' THEN ': ' || failure ELSE '' END AS verdict,
  round(seconds, 1) AS seconds
FROM cell ORDER BY coalesce(must, '') IN ('lose', 'damage'), stack, fs, variant, workload, kernel, must;

-- name: coverage
-- The share of each strategy's states that was checked. `space` can be very large (2^n subsets of n writes).
SELECT t.filesystem, t.variant, t.workload, t.control, k.strategy, count(*) AS trials, sum(k.bound = '') AS whole,
  sum(k.space) AS space, sum(k.generated) AS generated, sum(k.distinct_states) AS distinct_states,
  sum(k.checked) AS checked, avg(min(1.0, k.generated / nullif(k.space, 0))) AS mean_share, max(k.bound) AS bound
FROM trial t JOIN coverage k ON k.trial_id = t.id WHERE t.run_id = :run
GROUP BY t.filesystem, t.variant, t.workload, t.control, k.strategy
ORDER BY t.control IS NULL, t.filesystem, t.variant, t.workload, t.control, k.strategy;

-- name: failures
-- Failures of candidates first, then the required failures of controls; at most 500.
SELECT t.id AS trial_id, t.key, t.filesystem, t.variant, t.workload, t.control, c.name AS state, c.strategy, c.verdict,
  c.summary, c.persisted_operation, x.*,
  (SELECT count(*) FROM finding WHERE crash_state_id = c.id) AS findings, count(*) OVER () AS total
FROM failure x JOIN crash_state c ON c.id = x.crash_state_id JOIN trial t ON t.id = c.trial_id
WHERE t.run_id = :run
ORDER BY t.control IN ('lose', 'damage'), NOT x.confirmed, t.filesystem, t.variant, t.id, c.id LIMIT 500;

-- name: cuts
-- Crash states by the position of their cut: the number of events before it, with which a state's name begins.
SELECT t.filesystem, t.variant, t.control, CAST(ltrim(c.name, 'abcdefghijklmnopqrstuvwxyz') AS INTEGER) AS cut,
  sum(c.verdict IN ('clean', 'replayed')) AS kept,
  sum(c.verdict IN ('lost-synced-data', 'silent-loss', 'wrong-data', 'stale-data', 'zero-length', 'resurrected',
                    'non-atomic-rename', 'unmountable', 'not-repairable')) AS lost,
  sum(c.verdict IN ('repaired-by-fsck', 'recovery-not-idempotent', 'hang', 'oops', 'harness-error')) AS other
FROM trial t JOIN crash_state c ON c.trial_id = t.id WHERE t.run_id = :run
GROUP BY t.filesystem, t.variant, t.control, cut
ORDER BY t.control IS NOT NULL, t.filesystem, t.variant, t.control, cut;

-- name: steps
-- Time spent on each step of the exploration.
SELECT t.filesystem, s.step, sum(s.count) AS count, sum(s.total_ms) AS total_ms,
  sum(s.total_ms) / nullif(sum(sum(s.total_ms)) OVER (PARTITION BY t.filesystem), 0) AS share
FROM trial t JOIN step_time s ON s.trial_id = t.id WHERE t.run_id = :run
GROUP BY t.filesystem, s.step ORDER BY t.filesystem, total_ms DESC, s.step;

-- name: incidents
-- Events of the hardware in a trial: injected faults, failed members, rebuilds, batteries.
SELECT i.trial_id, i.at_ns, coalesce(d.name, 'device ' || i.device) AS device, i.text
FROM incident i JOIN trial t ON t.id = i.trial_id LEFT JOIN device d ON d.trial_id = i.trial_id AND d.ordinal = i.device
WHERE t.run_id = :run ORDER BY i.trial_id, i.at_ns, i.rowid;

-- name: artefacts
SELECT a.* FROM artefact a JOIN trial t ON t.id = a.trial_id WHERE t.run_id = :run ORDER BY a.trial_id, a.kind;

-- name: recovery
-- The first replay, fsck and mount after the cut in each trial. Model time is that of the drive and does not depend on
-- the host; wall time includes the guest's processor.
WITH step AS (
  SELECT t.filesystem, t.device, t.workload, p.name AS phase, p.model_ms, p.wall_ms, p.bytes_read, p.bytes_written,
    p.clock, row_number() OVER (PARTITION BY t.id, p.name ORDER BY p.ordinal) AS turn
  FROM trial t JOIN phase p ON p.trial_id = t.id
  WHERE t.run_id = :run AND p.name IN ('replay', 'fsck', 'mount') AND p.ordinal >
    coalesce((SELECT max(c.ordinal) FROM phase c WHERE c.trial_id = t.id AND c.name IN ('workload', 'cut')), -1)),
ranked AS (
  SELECT *, count(*) OVER cell AS n,
    row_number() OVER (cell ORDER BY model_ms) AS model_rank, row_number() OVER (cell ORDER BY wall_ms) AS wall_rank
  FROM step WHERE turn = 1 WINDOW cell AS (PARTITION BY filesystem, device, workload, phase))
SELECT filesystem, device, workload, phase, n AS trials,
  avg(model_ms) FILTER (WHERE model_rank IN ((n + 1) / 2, (n + 2) / 2)) AS model_median,
  min(model_ms) AS model_min, max(model_ms) AS model_max,
  avg(wall_ms) FILTER (WHERE wall_rank IN ((n + 1) / 2, (n + 2) / 2)) AS wall_median,
  min(wall_ms) AS wall_min, max(wall_ms) AS wall_max,
  avg(bytes_read) AS bytes_read, avg(bytes_written) AS bytes_written, sum(clock = 'off') AS unclocked
FROM ranked GROUP BY filesystem, device, workload, phase
ORDER BY phase = 'mount', phase = 'fsck', filesystem, device, workload;

-- name: latency
-- Cumulative share of the workload's requests that took at most upper_us.
SELECT t.device, t.filesystem, l.kind, l.upper_us, sum(l.count) AS requests,
  sum(sum(l.count)) OVER (PARTITION BY t.device, t.filesystem, l.kind ORDER BY l.upper_us) * 1.0 /
    sum(sum(l.count)) OVER (PARTITION BY t.device, t.filesystem, l.kind) AS share
FROM trial t JOIN phase p ON p.trial_id = t.id JOIN latency l ON l.phase_id = p.id
WHERE t.run_id = :run AND p.name = 'workload'
GROUP BY t.device, t.filesystem, l.kind, l.upper_us HAVING sum(l.count) > 0
ORDER BY t.device, t.filesystem, l.kind, l.upper_us;

-- name: io
-- One trial of each file system (the first with a sample and a cut). Contains every n-th request of each kind, so that
-- the page has at most 20 000. Times count from the first request. `requests` is the number that the first device
-- counted from the workload on; the sample may be a part of it.
WITH candidate AS (
  SELECT id, filesystem, key, cut_at_ns,
    row_number() OVER (PARTITION BY filesystem ORDER BY cut_at_ns IS NULL, id) AS turn
  FROM trial WHERE run_id = :run AND EXISTS (SELECT 1 FROM io WHERE trial_id = trial.id)),
counted AS (
  SELECT c.id, sum(p.reads + p.writes + p.flushes) AS requests FROM candidate c JOIN phase p ON p.trial_id = c.id
  WHERE c.turn = 1 AND p.ordinal >= (SELECT min(ordinal) FROM phase WHERE trial_id = c.id AND name = 'workload') GROUP BY c.id),
numbered AS (
  SELECT c.filesystem, c.key, c.cut_at_ns, counted.requests, io.at_ms, io.lba, io.op, io.sectors, io.response_us,
    min(io.at_ms) OVER (PARTITION BY c.id) AS first_ms,
    row_number() OVER (PARTITION BY c.id, io.op ORDER BY io.rowid) AS number, count(*) OVER () AS total
  FROM candidate c LEFT JOIN counted ON counted.id = c.id JOIN io ON io.trial_id = c.id WHERE c.turn = 1 AND io.device = 0)
SELECT filesystem, key, cut_at_ns / 1e6 - first_ms AS cut_ms, requests, at_ms - first_ms AS at_ms, lba, op, sectors, response_us
FROM numbered WHERE (number - 1) % ((total + 19899) / 19900) = 0
ORDER BY filesystem, op, number LIMIT 20000;

-- name: responses
-- Modelled response times of the sampled requests of a workload, before the cut, by kind of request. The histograms do
-- not include flushes. Requests that were never completed are not counted. Uses only the first 20 trials of each device
-- and file system, which limits the time of the query.
WITH chosen AS (
  SELECT id, device, filesystem, cut_at_ns, row_number() OVER (PARTITION BY device, filesystem ORDER BY id) AS turn
  FROM trial WHERE run_id = :run AND EXISTS (SELECT 1 FROM io WHERE trial_id = trial.id)),
answered AS (
  SELECT c.device, c.filesystem, io.op, io.response_us,
    row_number() OVER (PARTITION BY c.device, c.filesystem, io.op ORDER BY io.response_us) AS place,
    count(*) OVER (PARTITION BY c.device, c.filesystem, io.op) AS n
  FROM chosen c JOIN io ON io.trial_id = c.id
  WHERE c.turn <= 20 AND io.device = 0 AND io.op <> 'media' AND io.response_us IS NOT NULL
    AND (c.cut_at_ns IS NULL OR io.at_ms < c.cut_at_ns / 1e6))
SELECT device, filesystem, op, n AS requests, min(response_us) FILTER (WHERE place * 2 >= n) AS p50,
  min(response_us) FILTER (WHERE place * 10 >= n * 9) AS p90, min(response_us) FILTER (WHERE place * 100 >= n * 99) AS p99,
  max(response_us) AS most, avg(response_us) AS mean
FROM answered GROUP BY device, filesystem, op ORDER BY device, filesystem, op;

-- name: lateness
-- Difference between the response times that the client saw and those of the model, for each phase under a real-time
-- clock.
WITH timed AS (
  SELECT t.filesystem, t.device, t.workload, t.late, p.*,
    row_number() OVER (PARTITION BY t.filesystem, t.device, t.workload, p.name ORDER BY p.lateness_p50_us) AS rank,
    count(*) OVER (PARTITION BY t.filesystem, t.device, t.workload, p.name) AS n
  FROM trial t JOIN phase p ON p.trial_id = t.id WHERE t.run_id = :run AND p.achieved_mean_us IS NOT NULL)
SELECT filesystem, device, workload, name AS phase, n AS phases, min(clock) AS clock,
  avg(target_mean_us) AS target_mean, avg(achieved_mean_us) AS achieved_mean,
  avg(lateness_p50_us) FILTER (WHERE rank IN ((n + 1) / 2, (n + 2) / 2)) AS p50,
  max(lateness_p99_us) AS p99, max(lateness_max_us) AS worst,
  (avg(achieved_mean_us) - avg(target_mean_us)) / nullif(avg(target_mean_us), 0) AS share,
  count(DISTINCT trial_id) FILTER (WHERE late) AS late_trials
FROM timed GROUP BY filesystem, device, workload, phase ORDER BY filesystem, device, workload, min(ordinal);

-- name: clocks
-- Phases without a real-time clock, in which no request can be late.
SELECT p.name AS phase, p.clock, count(*) AS phases FROM trial t JOIN phase p ON p.trial_id = t.id
WHERE t.run_id = :run AND p.achieved_mean_us IS NULL AND p.reads + p.writes + p.flushes > 0 AND p.clock IN ('off', 'virtual')
GROUP BY p.name, p.clock ORDER BY min(p.ordinal), p.clock;

-- name: bench
-- The measurements, one row for each phase. A failed trial has no numbers, even if it left rows. `busy_ms` is the time
-- of the machine's busiest device until quiescence, `device_busy_ms` until the last call returned. Seeks and cache hits
-- are totals of all devices. `leaf_bytes_written` counts the bytes that reached the media behind all arrays and caches.
WITH timed AS (
  SELECT t.id AS trial_id, t.key, t.device, t.workload, t.parameters, t.scale, t.filesystem, t.variant, t.repetition,
    t.seed, t.clock, (t.clock = 'virtual' OR t.clock LIKE 'charged:%') AS virtual_time,
    iif(t.clock = 'virtual' OR t.clock LIKE 'charged:%', t.clock, 'real') AS clock_kind, t.late, t.host_busy, p.id AS phase_id, p.ordinal, m.label AS phase, m.measured,
    max(1.0, iif(p.clock LIKE 'real:%', CAST(substr(p.clock, 6) AS REAL), 1.0)) AS slower,
    m.elapsed_ms, m.quiescent_ms, coalesce(m.quiescent_ms, m.elapsed_ms) AS window_ms, m.user_ms, m.system_ms,
    m.device_busy_ms, m.operation, m.operations, m.app_bytes_read, m.app_bytes_written, m.guest_reads, m.guest_writes, m.guest_flushes,
    m.guest_bytes_read, m.guest_bytes_written, m.guest_merges, m.guest_busy_ms,
    p.reads, p.writes, p.flushes, p.bytes_read, p.bytes_written, p.media_writes, p.target_mean_us, p.target_p99_us,
    p.achieved_mean_us, d.members,
    p.seeks + coalesce(d.seeks, 0) AS seeks, p.cache_hits + coalesce(d.cache_hits, 0) AS cache_hits,
    max(p.busy_ms, coalesce(d.busy_ms, 0)) AS busy_ms,
    iif(d.covers_first, 0, p.media_bytes_written) + coalesce(d.leaf_bytes, 0) AS leaf_bytes_written
  FROM trial t JOIN phase p ON p.trial_id = t.id JOIN measure m ON m.phase_id = p.id
  LEFT JOIN (
    SELECT dp.phase_id, count(*) AS members, sum(dp.seeks) AS seeks, sum(dp.cache_hits) AS cache_hits,
      max(dp.busy_ms) AS busy_ms, max(v.parent = 0) AS covers_first,
      sum(iif(EXISTS (SELECT 1 FROM device c WHERE c.trial_id = v.trial_id AND c.parent = v.ordinal), 0,
              dp.media_bytes_written)) AS leaf_bytes
    FROM trial x JOIN phase y ON y.trial_id = x.id JOIN device_phase dp ON dp.phase_id = y.id
    LEFT JOIN device v ON v.trial_id = x.id AND v.name = dp.name
    WHERE x.run_id = :run AND x.verdict = 'measured' GROUP BY dp.phase_id) d ON d.phase_id = p.id
  WHERE t.run_id = :run AND t.verdict = 'measured')

-- name: bench_measures
-- after: bench
-- Every measurement with all counters. `queue_length`, the mean number of requests in the device, follows from Little's
-- law. `processor_share` is the guest's processor time divided by the length of the window in guest time (`slower` is
-- the clock's factor); 1 is one processor. In virtual time there is no processor time, whatever the guest counted.
-- `nvram_hits` excludes dirty_hits, which are included in write_hits. `busy_per_request_us` follows from the utilisation
-- law. The deviations are differences between the guest's /proc/diskstats and the device's counters.
SELECT trial_id, key, device, workload, parameters, scale, filesystem, variant, repetition, seed, clock, virtual_time, clock_kind, late, host_busy,
  phase, measured, operation, elapsed_ms, quiescent_ms, operations * 1000 / nullif(elapsed_ms, 0) AS rate,
  (SELECT value FROM metric WHERE phase_id = timed.phase_id AND name = 'fixed_time') AS fixed_time_s,
  operations, iif(virtual_time, NULL, user_ms) AS user_ms, iif(virtual_time, NULL, system_ms) AS system_ms,
  iif(virtual_time, NULL, (user_ms + system_ms) / nullif(window_ms * slower, 0)) AS processor_share,
  busy_ms, min(1.0, busy_ms / nullif(window_ms, 0)) AS busy_share,
  device_busy_ms, min(1.0, device_busy_ms / nullif(elapsed_ms, 0)) AS elapsed_busy_share,
  target_mean_us AS response_us, target_p99_us AS response_p99_us, achieved_mean_us AS achieved_us,
  busy_ms * 1000 / nullif(reads + writes + flushes, 0) AS busy_per_request_us,
  target_mean_us * (reads + writes + flushes) / 1000 / nullif(window_ms, 0) AS queue_length,
  reads, writes, flushes, guest_merges AS merges, bytes_read, bytes_written, app_bytes_read, app_bytes_written,
  bytes_written * 1.0 / nullif(app_bytes_written, 0) AS write_amplification,
  leaf_bytes_written, leaf_bytes_written * 1.0 / nullif(app_bytes_written, 0) AS media_amplification,
  media_writes, seeks, cache_hits,
  (SELECT sum(value) FROM metric WHERE phase_id = timed.phase_id AND name GLOB '*nvram.[rw]*_hits') AS nvram_hits,
  (SELECT sum(value) FROM metric WHERE phase_id = timed.phase_id AND name LIKE '%read_modify_writes') AS read_modify_writes,
  guest_reads, guest_writes, guest_flushes, guest_bytes_read, guest_bytes_written, guest_busy_ms,
  guest_reads * 1.0 / nullif(reads, 0) - 1 AS reads_deviation, guest_writes * 1.0 / nullif(writes, 0) - 1 AS writes_deviation,
  guest_bytes_read * 1.0 / nullif(bytes_read, 0) - 1 AS bytes_read_deviation,
  guest_bytes_written * 1.0 / nullif(bytes_written, 0) - 1 AS bytes_written_deviation
FROM timed ORDER BY device, workload, parameters, scale, virtual_time, ordinal, phase, filesystem, variant, repetition, trial_id;

-- name: bench_cells
-- after: bench
-- A cell is file system x device x workload x parameters x phase x kind of clock (virtual time, with or without a charge
-- for the processor, or a drive's real time). `busy_share` is the median until quiescence, if awaited. A cell with less
-- than a half is not ranked: it is CPU-bound or idle, according to `processor_share`. Intervals are not computed here,
-- but by the bootstrap from the rows of bench_measures.
, ranked AS (
  SELECT *, count(*) OVER cell AS n, row_number() OVER (cell ORDER BY window_ms) AS window_rank,
    row_number() OVER (cell ORDER BY elapsed_ms) AS elapsed_rank,
    row_number() OVER (cell ORDER BY busy_ms / nullif(window_ms, 0)) AS busy_rank
  FROM timed WHERE measured
  WINDOW cell AS (PARTITION BY device, workload, parameters, scale, clock_kind, phase, filesystem, variant))
SELECT device, workload, parameters, scale, phase, filesystem, variant,
  clock_kind AS clock, n AS repetitions,
  avg(window_ms) FILTER (WHERE window_rank IN ((n + 1) / 2, (n + 2) / 2)) AS quiescent_median_ms,
  avg(window_ms) AS quiescent_mean_ms, min(window_ms) AS quiescent_min_ms, max(window_ms) AS quiescent_max_ms,
  avg(elapsed_ms) FILTER (WHERE elapsed_rank IN ((n + 1) / 2, (n + 2) / 2)) AS elapsed_median_ms,
  avg(elapsed_ms) AS elapsed_mean_ms, count(quiescent_ms) AS waited_for_quiescence,
  avg(busy_ms / nullif(window_ms, 0)) FILTER (WHERE busy_rank IN ((n + 1) / 2, (n + 2) / 2)) AS busy_share,
  iif(virtual_time, NULL, avg((user_ms + system_ms) / nullif(window_ms * slower, 0))) AS processor_share,
  sum(late) AS late, max(host_busy) AS host_busy_most
FROM ranked GROUP BY device, workload, parameters, scale, clock_kind, phase, filesystem, variant
ORDER BY device, workload, parameters, scale, clock_kind, min(ordinal), phase, quiescent_mean_ms;

-- name: bench_trials
-- Every trial of a benchmark, and the reason if it failed.
SELECT id, key, device, workload, parameters, scale, filesystem, variant, repetition, seed, clock, verdict, summary, late,
  host_busy, started_at, wall_ms,
  (SELECT profile FROM device WHERE trial_id = trial.id AND ordinal = 0) AS profile,
  (SELECT sectors * 512 FROM device WHERE trial_id = trial.id AND ordinal = 0) AS device_bytes
FROM trial WHERE run_id = :run ORDER BY device, workload, parameters, scale, filesystem, variant, repetition, id;

-- name: bench_metrics
-- Means of the other counted or reported values over the repetitions.
SELECT t.device, t.workload, t.parameters, t.scale,
  iif(t.clock = 'virtual' OR t.clock LIKE 'charged:%', t.clock, 'real') AS clock_kind, m.label AS phase,
  t.filesystem, t.variant, x.name, x.unit, count(*) AS repetitions, avg(x.value) AS mean, min(x.value) AS least, max(x.value) AS greatest
FROM trial t JOIN phase p ON p.trial_id = t.id JOIN measure m ON m.phase_id = p.id JOIN metric x ON x.phase_id = p.id
WHERE t.run_id = :run AND t.verdict = 'measured' AND m.measured
GROUP BY t.device, t.workload, t.parameters, t.scale, clock_kind, m.label, x.name, x.unit, t.filesystem, t.variant
ORDER BY t.device, t.workload, t.parameters, t.scale, clock_kind, min(p.ordinal), m.label, x.name, t.filesystem, t.variant;

-- name: bench_latency
-- Cumulative share of the requests in a workload's measured phases that took at most upper_us of model time.
SELECT t.device, t.workload, t.parameters, t.filesystem, t.variant, l.upper_us, sum(l.count) AS requests,
  sum(sum(l.count)) OVER (PARTITION BY t.device, t.workload, t.parameters, t.filesystem, t.variant ORDER BY l.upper_us) * 1.0 /
    sum(sum(l.count)) OVER (PARTITION BY t.device, t.workload, t.parameters, t.filesystem, t.variant) AS share
FROM trial t JOIN phase p ON p.trial_id = t.id JOIN measure m ON m.phase_id = p.id
  JOIN latency l ON l.phase_id = p.id AND l.kind = 'target'
WHERE t.run_id = :run AND t.verdict = 'measured' AND m.measured
GROUP BY t.device, t.workload, t.parameters, t.filesystem, t.variant, l.upper_us HAVING sum(l.count) > 0
ORDER BY t.device, t.workload, t.parameters, t.filesystem, t.variant, l.upper_us;

-- name: bench_flushes
-- The same for flushes.
SELECT t.device, t.workload, t.parameters, t.filesystem, t.variant, l.upper_us, sum(l.count) AS requests,
  sum(sum(l.count)) OVER (PARTITION BY t.device, t.workload, t.parameters, t.filesystem, t.variant ORDER BY l.upper_us) * 1.0 /
    sum(sum(l.count)) OVER (PARTITION BY t.device, t.workload, t.parameters, t.filesystem, t.variant) AS share
FROM trial t JOIN phase p ON p.trial_id = t.id JOIN measure m ON m.phase_id = p.id
  JOIN flush_latency l ON l.phase_id = p.id
WHERE t.run_id = :run AND t.verdict = 'measured' AND m.measured
GROUP BY t.device, t.workload, t.parameters, t.filesystem, t.variant, l.upper_us HAVING sum(l.count) > 0
ORDER BY t.device, t.workload, t.parameters, t.filesystem, t.variant, l.upper_us;

-- name: bench_load
-- Load of the first device over the time of a measured phase, in the first repetition of each file system.
WITH turn AS (
  SELECT t.id, row_number() OVER (PARTITION BY device, workload, parameters, scale, filesystem, variant ORDER BY repetition, t.id) AS number
  FROM trial t WHERE run_id = :run AND verdict = 'measured')
SELECT t.device, t.workload, t.parameters, t.scale, m.label AS phase, t.filesystem, t.variant, l.begin_ms, l.end_ms,
  l.bytes_read, l.bytes_written, l.flushes, l.inside
FROM turn JOIN trial t ON t.id = turn.id AND turn.number = 1
  JOIN phase p ON p.trial_id = t.id JOIN measure m ON m.phase_id = p.id JOIN load l ON l.phase_id = p.id
WHERE m.measured
ORDER BY t.device, t.workload, t.parameters, t.scale, p.ordinal, t.filesystem, t.variant, l.begin_ms;

-- name: bench_io
-- One trial of each file system under the first workload of each device (the first with a sample). Contains every n-th
-- request of each kind, so that the page has at most 20 000. Times count from the first request.
WITH candidate AS (
  SELECT id, device, workload, parameters, filesystem, key,
    row_number() OVER (PARTITION BY device, filesystem, variant ORDER BY workload, parameters, repetition, id) AS turn
  FROM trial WHERE run_id = :run AND verdict = 'measured' AND EXISTS (SELECT 1 FROM io WHERE trial_id = trial.id)),
chosen AS (SELECT * FROM candidate WHERE turn = 1 ORDER BY device, workload, parameters, filesystem, key LIMIT 24),
numbered AS (
  SELECT c.device, c.workload, c.parameters, c.filesystem, c.key, io.at_ms, io.lba, io.op, io.sectors, io.response_us,
    min(io.at_ms) OVER (PARTITION BY c.id) AS first_ms,
    row_number() OVER (PARTITION BY c.id, io.op ORDER BY io.rowid) AS number, count(*) OVER () AS total
  FROM chosen c JOIN io ON io.trial_id = c.id WHERE io.device = 0)
SELECT device, workload, parameters, filesystem, key, at_ms - first_ms AS at_ms, lba, op, sectors, response_us FROM numbered
WHERE (number - 1) % ((total + 19899) / 19900) = 0
ORDER BY device, workload, parameters, filesystem, key, op, number LIMIT 20000;

-- name: experiment_run
SELECT name, (SELECT count(*) FROM trial WHERE run_id = run.id) AS cells,
  (SELECT count(*) FROM trial WHERE run_id = run.id AND verdict = 'failed') AS failed
FROM run WHERE id = :run;

-- name: io_errors
SELECT t.key, t.filesystem, t.verdict, t.summary, t.wall_ms, e.*
FROM trial t JOIN io_error e ON e.trial_id = t.id
WHERE t.run_id = :run ORDER BY t.filesystem, e.failed_request <> 'none', e.failed_request, e.lasting, e.ending;

-- name: io_error_steps
SELECT t.key, s.ordinal, s.step, s.result
FROM trial t JOIN io_error_step s ON s.trial_id = t.id
WHERE t.run_id = :run ORDER BY t.id, s.ordinal;

-- name: unsynced
SELECT t.key, t.filesystem, t.variant, t.control, t.verdict, t.summary,
  max(CASE m.name WHEN 'loss.expire' THEN m.value END) AS expire, max(CASE m.name WHEN 'loss.writeback' THEN m.value END) AS writeback,
  max(CASE m.name WHEN 'loss.commit' THEN m.value END) AS commit_interval,
  coalesce(max(CASE m.name WHEN 'loss.bound' THEN m.value END), 0) AS bound,
  coalesce(max(CASE m.name WHEN 'loss.oldest_lost' THEN m.value END), 0) AS oldest_lost,
  coalesce(max(CASE m.name WHEN 'loss.newest_kept' THEN m.value END), 0) AS newest_kept,
  coalesce(max(CASE m.name WHEN 'loss.lost' THEN m.value END), 0) AS lost,
  coalesce(max(CASE m.name WHEN 'loss.kept' THEN m.value END), 0) AS kept,
  coalesce(max(CASE m.name WHEN 'loss.bytes' THEN m.value END), 0) AS bytes
FROM trial t LEFT JOIN phase p ON p.trial_id = t.id LEFT JOIN metric m ON m.phase_id = p.id
WHERE t.run_id = :run GROUP BY t.id ORDER BY t.id;

-- name: unsynced_ages
SELECT t.key, substr(m.name, 5, 4) = 'lost' AS lost,
  substr(m.name, 10, instr(substr(m.name, 10), '.') - 1) AS kind, m.value AS age
FROM trial t JOIN phase p ON p.trial_id = t.id JOIN metric m ON m.phase_id = p.id
WHERE t.run_id = :run AND m.name LIKE 'age.%' ORDER BY t.id, m.value;

-- name: claim_numbers
SELECT claim, part, title, cell, quantity, unit, paper, ours, ours / nullif(paper, 0) AS ratio, remark, low, high
FROM claim_number WHERE run_id = :run ORDER BY ordinal;

-- name: claim_rules
SELECT claim, rule, class, verdict, executions, detail FROM claim_rule WHERE run_id = :run ORDER BY ordinal;

-- name: claim_tables
SELECT claim, name, title, line, heading, value FROM claim_table WHERE run_id = :run ORDER BY ordinal;

-- name: claim_points
SELECT claim, plot, title, x_axis, y_axis, logarithmic_x, series, from_paper, x, y
FROM claim_point WHERE run_id = :run ORDER BY ordinal;
