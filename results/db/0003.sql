-- Schema version 3: exploration. A trial can be a workload of which many crash states were checked.

-- Required outcome of a control; NULL for other trials. `lose`: some state loses data. `damage`: the check finds damage in
-- some state. `keep`: every state keeps everything. `keep-after-fsck`: the same, but repairs are permitted. In earlier
-- schemas, a control was a trial that was expected to lose data.
ALTER TABLE trial ADD COLUMN control TEXT CHECK (control IN ('lose', 'damage', 'keep', 'keep-after-fsck'));
UPDATE trial SET control = 'lose' WHERE expected = 'loss';
-- Differences from the adapter, such as "write-through"; empty if there are none.
ALTER TABLE trial ADD COLUMN variant TEXT NOT NULL DEFAULT '';

-- Coverage, one row for each strategy. Explored trials have rows here.
CREATE TABLE coverage (
  trial_id INTEGER NOT NULL REFERENCES trial(id) ON DELETE CASCADE,
  strategy TEXT NOT NULL,                   -- plugin/states/explorer.h
  space REAL NOT NULL,                      -- states that the strategy defines for this run
  generated INTEGER NOT NULL,
  distinct_states INTEGER NOT NULL,         -- distinct by content
  checked INTEGER NOT NULL,                 -- number of checked states
  bound TEXT NOT NULL,                      -- why states were omitted; empty if none were
  PRIMARY KEY (trial_id, strategy)
) STRICT, WITHOUT ROWID;

-- Every checked state.
CREATE TABLE crash_state (
  id INTEGER PRIMARY KEY,
  trial_id INTEGER NOT NULL REFERENCES trial(id) ON DELETE CASCADE,
  name TEXT NOT NULL,                       -- plugin/states/crash_state.h
  strategy TEXT NOT NULL,
  digest INTEGER NOT NULL,                  -- digest of the content
  persisted_operation INTEGER,              -- last operation known to be persistent before the cut
  verdict TEXT NOT NULL,
  summary TEXT NOT NULL,                    -- empty if the verdict is clean or replayed
  in_guest INTEGER NOT NULL CHECK (in_guest IN (0, 1)),  -- 1: the recovery ran wholly in the guest
  wall_ms REAL NOT NULL,
  UNIQUE (trial_id, name)
) STRICT;
CREATE INDEX crash_state_verdict ON crash_state(trial_id, verdict);

-- The state of a finding; NULL for a trial with one cut.
ALTER TABLE finding ADD COLUMN crash_state_id INTEGER REFERENCES crash_state(id) ON DELETE CASCADE;
CREATE INDEX finding_crash_state ON finding(crash_state_id);

-- Failures that were checked again.
CREATE TABLE failure (
  id INTEGER PRIMARY KEY,
  crash_state_id INTEGER NOT NULL UNIQUE REFERENCES crash_state(id) ON DELETE CASCADE,
  confirmed INTEGER NOT NULL CHECK (confirmed IN (0, 1)),   -- 1: reproduced on a fresh guest, wholly in the guest
  disagreement TEXT NOT NULL,               -- the different result of the second check; empty if there was none
  tier TEXT NOT NULL,                       -- strongest broken tier
  operations TEXT NOT NULL,                 -- minimised workload, one operation per line; empty: not minimised
  minimised_state TEXT NOT NULL,            -- failing state with the fewest lost writes; empty: not minimised
  account TEXT NOT NULL,                    -- operations, lost writes, expected, found
  replay TEXT NOT NULL                      -- command that reproduces it, without --db
) STRICT;

-- Time of each step, summed over all states of a trial.
CREATE TABLE step_time (
  trial_id INTEGER NOT NULL REFERENCES trial(id) ON DELETE CASCADE,
  step TEXT NOT NULL,                       -- generate, load, replay, check, repair, mount, dump, judge, unmount, ...
  count INTEGER NOT NULL,
  total_ms REAL NOT NULL,
  PRIMARY KEY (trial_id, step)
) STRICT, WITHOUT ROWID;
