-- Schema version 1. Times are milliseconds (REAL) or nanoseconds (INTEGER, _ns); sizes are bytes.

CREATE TABLE run (
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('campaign', 'bench', 'experiment')),
  name TEXT NOT NULL,                       -- the campaign's name
  configuration TEXT NOT NULL,              -- the whole campaign file
  digest TEXT NOT NULL,                     -- digest of configuration, seed and shard, by which --resume finds a run
  seed INTEGER NOT NULL,
  started_at TEXT NOT NULL,                 -- ISO 8601, UTC
  finished_at TEXT,                         -- NULL while unfinished or interrupted
  trials_planned INTEGER NOT NULL,
  host TEXT NOT NULL,                       -- JSON: cpu, cores, memory, kernel, os
  versions TEXT NOT NULL,                   -- JSON: headcrash, nbdkit, qemu, guest kernel, tools
  accelerator TEXT NOT NULL                 -- kvm, tcg, none
) STRICT;

CREATE TABLE trial (
  id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,
  key TEXT NOT NULL,                        -- unique in the run: "ext4/hp-c2447/small-files/3"
  filesystem TEXT NOT NULL,
  device TEXT NOT NULL,
  workload TEXT NOT NULL,
  seed INTEGER NOT NULL,
  clock TEXT NOT NULL,                      -- real, real:K, off, virtual
  cut TEXT NOT NULL,                        -- the armed trigger, text form
  cut_at_ns INTEGER,                        -- model time of the cut; NULL if there was none
  after_persistence_ns INTEGER,             -- model time from the last persistence point to the cut
  persisted_operation INTEGER,              -- index of the last operation known to be persistent; NULL if there is none
  operations INTEGER NOT NULL,              -- length of the workload
  verdict TEXT NOT NULL,                    -- harness/oracle/verdict.h
  expected TEXT NOT NULL CHECK (expected IN ('clean', 'loss', 'any')),   -- the outcome that the adapter declares
  summary TEXT NOT NULL,                    -- one sentence
  started_at TEXT NOT NULL,
  wall_ms REAL NOT NULL,
  late INTEGER NOT NULL CHECK (late IN (0, 1)),   -- lateness above 5 % of the mean service time
  UNIQUE (run_id, key)
) STRICT;

CREATE TABLE phase (
  id INTEGER PRIMARY KEY,
  trial_id INTEGER NOT NULL REFERENCES trial(id) ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,
  name TEXT NOT NULL CHECK (name IN ('restore', 'mkfs', 'workload', 'cut', 'replay', 'fsck', 'mount', 'verify')),
  clock TEXT NOT NULL,                      -- clock of the device in this phase
  wall_ms REAL NOT NULL,
  model_ms REAL NOT NULL,                   -- elapsed model time
  exit_code INTEGER,                        -- of the phase's command; NULL without a command
  reads INTEGER NOT NULL, writes INTEGER NOT NULL, flushes INTEGER NOT NULL,
  bytes_read INTEGER NOT NULL, bytes_written INTEGER NOT NULL,
  media_writes INTEGER NOT NULL, media_bytes_written INTEGER NOT NULL,
  cache_hits INTEGER NOT NULL, seeks INTEGER NOT NULL,
  busy_ms REAL NOT NULL,
  target_p50_us REAL, target_p99_us REAL, target_mean_us REAL,        -- NULL without requests
  achieved_p50_us REAL, achieved_p99_us REAL, achieved_mean_us REAL,  -- NULL without clock=real
  lateness_p50_us REAL, lateness_p99_us REAL, lateness_max_us REAL,
  UNIQUE (trial_id, ordinal)
) STRICT;

-- Response times of a phase in logarithmic buckets, for plots of latency distributions.
CREATE TABLE latency (
  phase_id INTEGER NOT NULL REFERENCES phase(id) ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('target', 'achieved')),
  upper_us REAL NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (phase_id, kind, upper_us)
) STRICT, WITHOUT ROWID;

-- A sample of the requests, for the LBA-over-time plot.
CREATE TABLE io (
  trial_id INTEGER NOT NULL REFERENCES trial(id) ON DELETE CASCADE,
  at_ms REAL NOT NULL,                      -- model time of submission
  lba INTEGER NOT NULL,
  sectors INTEGER NOT NULL,
  op TEXT NOT NULL CHECK (op IN ('read', 'write', 'flush', 'media')),
  response_us REAL
) STRICT;
CREATE INDEX io_trial ON io(trial_id);

-- Findings, one row for each object.
CREATE TABLE finding (
  id INTEGER PRIMARY KEY,
  trial_id INTEGER NOT NULL REFERENCES trial(id) ON DELETE CASCADE,
  kind TEXT NOT NULL,                       -- name of a verdict
  tier TEXT NOT NULL CHECK (tier IN ('posix', 'documented', 'de-facto', 'integrity')),
  path TEXT NOT NULL,
  expected TEXT NOT NULL,
  found TEXT NOT NULL
) STRICT;
CREATE INDEX finding_trial ON finding(trial_id);

CREATE TABLE artefact (
  id INTEGER PRIMARY KEY,
  trial_id INTEGER NOT NULL REFERENCES trial(id) ON DELETE CASCADE,
  kind TEXT NOT NULL,                       -- recording, console, fsck-output
  path TEXT NOT NULL,                       -- relative to the database's folder
  bytes INTEGER NOT NULL,
  UNIQUE (trial_id, kind)
) STRICT;
