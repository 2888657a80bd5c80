-- Seconds until all data is on the disk: our file systems, and the fastest of Linux's five. Run in this folder: sqlite3 < devices.sql
.import --csv devices.csv ours
.import --csv ../virtual-five-filesystems/rankings.csv others
CREATE VIEW cell AS SELECT device, workload, parameters, phase, filesystem, CAST(mean_ms AS REAL) / 1000 AS s FROM ours WHERE mean_ms <> '';
CREATE VIEW first AS SELECT device, workload, parameters, phase, filesystem, min(CAST(mean_ms AS REAL)) / 1000 AS s FROM others WHERE mean_ms <> '' GROUP BY 1, 2, 3, 4;
.mode markdown --wrap 0
.headers on
SELECT device, workload || CASE phase WHEN workload THEN '' ELSE ', ' || phase END AS "workload, phase",
  format('%.3g', max(iif(c.filesystem = 'lfs', c.s, NULL))) AS lfs, format('%.3g', max(iif(c.filesystem = 'snapfs', c.s, NULL))) AS snapfs,
  format('%.3g', max(iif(c.filesystem = 'ufs-journal', c.s, NULL))) AS "ufs-journal",
  format('%.3g', max(iif(c.filesystem = 'ufs-soft-updates', c.s, NULL))) AS "ufs-soft-updates",
  format('%.3g', max(iif(c.filesystem = 'ufs-conventional', c.s, NULL))) AS "ufs-conventional",
  format('%.3g (%s)', f.s, f.filesystem) AS "the first of Linux's"
FROM cell c JOIN first f USING (device, workload, parameters, phase) GROUP BY device, workload, phase ORDER BY device, workload, phase;
