-- The order of the file systems with scaled and with unscaled workloads, both in virtual time, from the two tables of
-- `headcrash report --csv`. Run in this folder: sqlite3 < scales.sql > scales.md
--
-- Times are multiples of the best mean of a cell; unranked times are in brackets. A pair counts as different if the means differ
-- by more than 5 % in both tables.
.import --csv ../virtual-five-filesystems/rankings.csv scaled
.import --csv rankings.csv unscaled

CREATE VIEW cell AS
SELECT s.device, s.workload || CASE s.phase WHEN s.workload THEN '' ELSE ', ' || s.phase END AS place, s.filesystem,
  CAST(s.mean_ms AS REAL) AS scaled_ms, s.state AS scaled_state, CAST(u.mean_ms AS REAL) AS unscaled_ms, u.state AS unscaled_state
FROM scaled s JOIN unscaled u USING (device, workload, phase, filesystem, variant)
WHERE s.mean_ms <> '' AND u.mean_ms <> '';

CREATE VIEW pair AS
SELECT a.device, a.place, a.filesystem AS one, b.filesystem AS other, (a.scaled_ms < b.scaled_ms) = (a.unscaled_ms < b.unscaled_ms) AS same,
  max(a.scaled_ms / b.scaled_ms, b.scaled_ms / a.scaled_ms) > 1.05 AND max(a.unscaled_ms / b.unscaled_ms, b.unscaled_ms / a.unscaled_ms) > 1.05 AS apart
FROM cell a JOIN cell b ON a.device = b.device AND a.place = b.place AND a.filesystem < b.filesystem;

CREATE VIEW place AS
SELECT device, place,
  (SELECT group_concat(text, ', ') FROM (SELECT iif(scaled_state = 'ranked', format('%s %.2f', filesystem, scaled_ms / min(scaled_ms) OVER ()),
    format('(%s %.2f)', filesystem, scaled_ms / min(scaled_ms) OVER ())) AS text FROM cell c WHERE c.device = of.device AND c.place = of.place ORDER BY scaled_ms)) AS scaled,
  format('%.3g s', min(scaled_ms) / 1000) AS best,
  (SELECT group_concat(text, ', ') FROM (SELECT iif(unscaled_state = 'ranked', format('%s %.2f', filesystem, unscaled_ms / min(unscaled_ms) OVER ()),
    format('(%s %.2f)', filesystem, unscaled_ms / min(unscaled_ms) OVER ())) AS text FROM cell c WHERE c.device = of.device AND c.place = of.place ORDER BY unscaled_ms)) AS unscaled,
  format('%.3g s', min(unscaled_ms) / 1000) AS best_unscaled,
  (SELECT format('%d of %d', sum(apart AND same), sum(apart)) FROM pair p WHERE p.device = of.device AND p.place = of.place) AS same,
  (SELECT group_concat(one || '/' || other, ' ') FROM pair p WHERE p.device = of.device AND p.place = of.place AND apart AND NOT same) AS turned
FROM cell of GROUP BY device, place;

.mode markdown --wrap 0
.headers on
SELECT device, count(*) AS pairs, sum(same) AS "in the same order", sum(apart) AS "told apart in both", sum(apart AND same) AS "of these in the same order"
FROM pair GROUP BY device UNION ALL SELECT 'all', count(*), sum(same), sum(apart), sum(apart AND same) FROM pair;
.mode list
.headers off
SELECT '';
.mode markdown --wrap 0
.headers on
SELECT device, place AS "workload, phase", scaled, best, unscaled, best_unscaled AS "best, unscaled", same AS "same of those apart", turned FROM place;
