-- The order of the file systems in real and in virtual time, from the two tables of `headcrash report --csv`.
-- Run in this folder: sqlite3 < orders.sql > orders.md
--
-- A pair of file systems counts as different if their mean times differ by more than 5 % (1/1.05 to 1.05) in both tables.
-- Two runs in real time differ by as much.
.import --csv ../five-filesystems/rankings.csv real_time
.import --csv rankings.csv virtual_time

CREATE VIEW cell AS
SELECT r.device, r.workload, r.phase, r.filesystem, r.workload || CASE r.phase WHEN r.workload THEN '' ELSE ', ' || r.phase END AS place,
  CAST(r.mean_ms AS REAL) AS real_ms, r.state AS real_state,
  CAST(v.mean_ms AS REAL) AS virtual_ms, v.state AS virtual_state
FROM real_time r JOIN virtual_time v USING (device, workload, parameters, scale, phase, filesystem, variant)
WHERE r.mean_ms <> '' AND v.mean_ms <> '';

CREATE VIEW pair AS
SELECT a.device, a.workload, a.phase, a.place, a.filesystem AS one, b.filesystem AS other,
  a.real_ms / b.real_ms AS in_real, a.virtual_ms / b.virtual_ms AS in_virtual,
  (a.real_ms < b.real_ms) = (a.virtual_ms < b.virtual_ms) AS same,
  max(a.real_ms / b.real_ms, b.real_ms / a.real_ms) > 1.05
    AND max(a.virtual_ms / b.virtual_ms, b.virtual_ms / a.virtual_ms) > 1.05 AS apart,
  min(a.real_ms, b.real_ms) >= 1000 AND min(a.virtual_ms, b.virtual_ms) >= 1000 AS seconds,
  a.real_state || a.virtual_state || b.real_state || b.virtual_state = 'rankedrankedrankedranked' AS ranked
FROM cell a JOIN cell b ON a.device = b.device AND a.workload = b.workload AND a.phase = b.phase AND a.filesystem < b.filesystem;

-- Times as multiples of the best; times in brackets are not ranked there (idle or CPU-bound).
CREATE VIEW place AS
SELECT device, place,
  (SELECT group_concat(text, ', ') FROM (
    SELECT iif(real_state = 'ranked', format('%s %.2f', filesystem, real_ms / min(real_ms) OVER ()), format('(%s %.2f)', filesystem, real_ms / min(real_ms) OVER ())) AS text
    FROM cell c WHERE c.device = of.device AND c.place = of.place ORDER BY real_ms)) AS in_real,
  min(real_ms) AS real_best_ms,
  (SELECT group_concat(text, ', ') FROM (
    SELECT iif(virtual_state = 'ranked', format('%s %.2f', filesystem, virtual_ms / min(virtual_ms) OVER ()), format('(%s %.2f)', filesystem, virtual_ms / min(virtual_ms) OVER ())) AS text
    FROM cell c WHERE c.device = of.device AND c.place = of.place ORDER BY virtual_ms)) AS in_virtual,
  min(virtual_ms) AS virtual_best_ms,
  (SELECT 2.0 * sum(same) / count(*) - 1 FROM pair p WHERE p.device = of.device AND p.place = of.place) AS tau,
  (SELECT sum(apart AND same) FROM pair p WHERE p.device = of.device AND p.place = of.place) AS same,
  (SELECT sum(apart) FROM pair p WHERE p.device = of.device AND p.place = of.place) AS apart,
  (SELECT group_concat(one || '/' || other, ' ') FROM pair p WHERE p.device = of.device AND p.place = of.place AND apart AND NOT same) AS turned
FROM cell of GROUP BY device, place;

.mode list
.headers off
SELECT char(10) || '## All pairs' || char(10);
.mode markdown --wrap 0
.headers on
SELECT 'all' AS pairs, count(*) AS number, sum(same) AS "in the same order", sum(apart) AS "told apart in both", sum(apart AND same) AS "of these in the same order",
  format('%.0f %%', 100.0 * sum(apart AND same) / sum(apart)) AS share FROM pair
UNION ALL SELECT 'ranked in both tables', count(*), sum(same), sum(apart), sum(apart AND same), format('%.0f %%', 100.0 * sum(apart AND same) / sum(apart)) FROM pair WHERE ranked
UNION ALL SELECT 'both take a second or more, in both tables', count(*), sum(same), sum(apart), sum(apart AND same), format('%.0f %%', 100.0 * sum(apart AND same) / sum(apart)) FROM pair WHERE seconds
UNION ALL SELECT * FROM (SELECT device, count(*), sum(same), sum(apart), sum(apart AND same), format('%.0f %%', 100.0 * sum(apart AND same) / sum(apart)) FROM pair GROUP BY device)
UNION ALL SELECT * FROM (SELECT place, count(*), sum(same), sum(apart), sum(apart AND same), format('%.0f %%', 100.0 * sum(apart AND same) / sum(apart)) FROM pair GROUP BY place);
.mode list
.headers off
SELECT char(10) || '## Each device, workload and phase' || char(10) || char(10) ||
  'Times as multiples of the best mean; times in brackets are not ranked in their table. `tau` is Kendall''s rank correlation of the two orders.' || char(10);
.mode markdown --wrap 0
.headers on
SELECT device, place AS "workload, phase", in_real AS "real time", format('%.3g s', real_best_ms / 1000) AS "best", in_virtual AS "virtual time", format('%.3g s', virtual_best_ms / 1000) AS "best",
  format('%.1f', tau) AS tau, format('%d of %d', same, apart) AS "same of those apart", coalesce(turned, '') AS "turned round" FROM place ORDER BY device, place;
