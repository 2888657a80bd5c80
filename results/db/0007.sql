-- Schema version 7: tables of experiments, and the points of their plots.

-- One row for each cell of a table, ordered by rows, then columns.
CREATE TABLE claim_table (
  run_id INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,
  claim TEXT NOT NULL,
  name TEXT NOT NULL, title TEXT NOT NULL,  -- name and title of the table; the name is unique in its claim
  line INTEGER NOT NULL,                    -- from 0
  heading TEXT NOT NULL,                    -- heading of the column, with its unit
  value TEXT NOT NULL,
  PRIMARY KEY (run_id, ordinal)
) STRICT, WITHOUT ROWID;

CREATE TABLE claim_point (
  run_id INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,
  claim TEXT NOT NULL,
  plot TEXT NOT NULL, title TEXT NOT NULL,  -- the name is unique in its claim
  x_axis TEXT NOT NULL, y_axis TEXT NOT NULL,                      -- quantity and unit
  logarithmic_x INTEGER NOT NULL CHECK (logarithmic_x IN (0, 1)),
  series TEXT NOT NULL,
  from_paper INTEGER NOT NULL CHECK (from_paper IN (0, 1)),        -- 1: taken from the paper's figure
  x REAL NOT NULL, y REAL NOT NULL,
  PRIMARY KEY (run_id, ordinal)
) STRICT, WITHOUT ROWID;
