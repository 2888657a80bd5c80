-- Schema version 10: the class of a rule, the verdict 'vacuous', and the number of executions.

CREATE TABLE claim_rule_10 (
  run_id INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,
  claim TEXT NOT NULL,
  rule TEXT NOT NULL,                       -- the required shape, in words
  -- undecided: a number is missing, or the executions disagree; vacuous: the mechanism did not act in the run
  verdict TEXT NOT NULL CHECK (verdict IN ('holds', 'does not hold', 'undecided', 'vacuous')),
  detail TEXT NOT NULL,                     -- the numbers on which the result is based
  -- paper: a run against a statement of the paper; ours: our own question; arithmetic: printed numbers or a formula;
  -- calibrated: a number from which a constant was calibrated
  class TEXT NOT NULL CHECK (class IN ('paper', 'ours', 'arithmetic', 'calibrated')),
  executions INTEGER NOT NULL,              -- executions with different seeds; 0: does not depend on a seed
  PRIMARY KEY (run_id, ordinal)
) STRICT, WITHOUT ROWID;
INSERT INTO claim_rule_10 SELECT run_id, ordinal, claim,
    CASE WHEN rule LIKE '(ours) %' THEN substr(rule, 8) ELSE rule END, verdict, detail,
    CASE WHEN rule LIKE '(ours) %' THEN 'ours' ELSE 'paper' END, 1
  FROM claim_rule;
DROP TABLE claim_rule;
ALTER TABLE claim_rule_10 RENAME TO claim_rule;
