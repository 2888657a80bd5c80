-- Schema version 5: experiments. A run of kind 'experiment' has a trial for each cell (filesystem is the scheme, times are
-- model time) and the results for the claims of a paper.

CREATE TABLE claim_number (
  run_id INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,                 -- in the order of the paper
  claim TEXT NOT NULL,                      -- 'GP-15'
  part TEXT NOT NULL,                       -- name of the part in the command: 'table1'
  title TEXT NOT NULL,                      -- title of the claim
  cell TEXT NOT NULL, quantity TEXT NOT NULL, unit TEXT NOT NULL,
  paper REAL,                               -- NULL: the paper has only a figure
  ours REAL,                                -- NULL: not built or failed; see remark
  remark TEXT NOT NULL,
  PRIMARY KEY (run_id, ordinal)
) STRICT, WITHOUT ROWID;

CREATE TABLE claim_rule (
  run_id INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,
  claim TEXT NOT NULL,
  rule TEXT NOT NULL,                       -- the required shape, in words
  verdict TEXT NOT NULL CHECK (verdict IN ('holds', 'does not hold', 'undecided')),
  detail TEXT NOT NULL,                     -- the numbers on which the result is based
  PRIMARY KEY (run_id, ordinal)
) STRICT, WITHOUT ROWID;
