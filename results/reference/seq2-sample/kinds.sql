-- Failures by file system, verdict and form of the summary, without names, versions and numbers.
SELECT t.filesystem AS "file system", s.verdict, f.tier,
  CASE WHEN s.summary LIKE '%found zeroes%' THEN 'zeroes in place of what was written'
       WHEN s.summary LIKE '%found also%' THEN 'two names in place of one'
       WHEN s.summary LIKE '%under one of its names%' THEN 'a file under none of its names'
       WHEN s.summary LIKE '%name to be there%' THEN 'a name is missing'
       WHEN s.summary LIKE '%expected no such name%' THEN 'a removed name is there'
       WHEN s.summary LIKE '%attribute%' THEN 'an attribute is another'
       WHEN s.summary LIKE '%bytes, found%' THEN 'another size'
       WHEN s.summary LIKE '%expected zeroes%' THEN 'old data in place of zeroes'
       WHEN s.summary LIKE '%expected version%' THEN 'old data in place of new'
       ELSE substr(s.summary, 1, 60) END AS what,
  count(DISTINCT t.id) AS workloads, count(*) AS states, sum(f.confirmed) AS confirmed
FROM failure f JOIN crash_state s ON s.id = f.crash_state_id JOIN trial t ON t.id = s.trial_id
WHERE t.workload = 'ace-seq2' GROUP BY 1, 2, 3, 4 ORDER BY 1, 5 DESC;
