-- Schema version 3: the crash lab. A trial can be a workload of which many crash states were checked.

-- What a control has to show (NULL: it is none): `lose` data in some state, `damage` that the check finds in some state,
-- `keep` everything in every state, `keep-after-fsck` the same where a repair is not a fault. Until now a control was what
-- was expected to lose.
ALTER TABLE trial ADD COLUMN control TEXT CHECK (control IN ('lose', 'damage', 'keep', 'keep-after-fsck'));
UPDATE trial SET control = 'lose' WHERE expected = 'loss';
-- How the candidate was run other than its adapter says: "write-through", "prefill"; empty for nothing.
ALTER TABLE trial ADD COLUMN variant TEXT NOT NULL DEFAULT '';

-- What was explored, one row a strategy. A trial with rows here is an explored one.
CREATE TABLE coverage (
  trial_id INTEGER NOT NULL REFERENCES trial(id) ON DELETE CASCADE,
  strategy TEXT NOT NULL,                   -- plugin/states/explorer.h
  space REAL NOT NULL,                      -- states that the strategy defines for this run
  generated INTEGER NOT NULL,
  distinct_states INTEGER NOT NULL,         -- by content
  checked INTEGER NOT NULL,                 -- under a guest
  bound TEXT NOT NULL,                      -- what was left out, in words; empty for nothing
  PRIMARY KEY (trial_id, strategy)
) STRICT, WITHOUT ROWID;

-- Every state that was checked.
CREATE TABLE crash_state (
  id INTEGER PRIMARY KEY,
  trial_id INTEGER NOT NULL REFERENCES trial(id) ON DELETE CASCADE,
  name TEXT NOT NULL,                       -- plugin/states/crash_state.h
  strategy TEXT NOT NULL,
  digest INTEGER NOT NULL,                  -- of the content
  persisted_operation INTEGER,              -- last operation known to be persistent before the cut
  verdict TEXT NOT NULL,
  summary TEXT NOT NULL,                    -- empty where the verdict says it all: clean, replayed
  in_guest INTEGER NOT NULL CHECK (in_guest IN (0, 1)),  -- recovery was done wholly in the guest
  wall_ms REAL NOT NULL,
  UNIQUE (trial_id, name)
) STRICT;
CREATE INDEX crash_state_verdict ON crash_state(trial_id, verdict);

-- What was wrong in it: finding.crash_state_id is NULL for a trial of one cut.
ALTER TABLE finding ADD COLUMN crash_state_id INTEGER REFERENCES crash_state(id) ON DELETE CASCADE;
CREATE INDEX finding_crash_state ON finding(crash_state_id);

-- Failures that were looked at again.
CREATE TABLE failure (
  id INTEGER PRIMARY KEY,
  crash_state_id INTEGER NOT NULL UNIQUE REFERENCES crash_state(id) ON DELETE CASCADE,
  confirmed INTEGER NOT NULL CHECK (confirmed IN (0, 1)),   -- seen again on a fresh guest, wholly in the guest
  disagreement TEXT NOT NULL,               -- what the second look showed instead; empty when confirmed
  tier TEXT NOT NULL,                       -- the strongest that is broken
  operations TEXT NOT NULL,                 -- the minimised workload, one a line; empty: not minimised
  minimised_state TEXT NOT NULL,            -- the state with the fewest lost writes that still fails; empty: not minimised
  account TEXT NOT NULL,                    -- operations, lost writes, expected, found
  replay TEXT NOT NULL                      -- the command that shows it again, without its --db
) STRICT;

-- Time of each step over all states of a trial.
CREATE TABLE step_time (
  trial_id INTEGER NOT NULL REFERENCES trial(id) ON DELETE CASCADE,
  step TEXT NOT NULL,                       -- generate, load, replay, check, repair, mount, dump, judge, unmount, ...
  count INTEGER NOT NULL,
  total_ms REAL NOT NULL,
  PRIMARY KEY (trial_id, step)
) STRICT, WITHOUT ROWID;
