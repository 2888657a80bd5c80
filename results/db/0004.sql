-- Schema version 4: benchmarks. A trial of a run of kind 'bench' is one repetition of one cell: file system, device,
-- workload, parameters. Its verdict is 'measured' or 'failed', its cut ''.

ALTER TABLE trial ADD COLUMN repetition INTEGER;      -- from 0; NULL: no benchmark. Equal repetitions were interleaved and form pairs
ALTER TABLE trial ADD COLUMN parameters TEXT NOT NULL DEFAULT '';   -- "files=1000 users=4": all arguments, sorted by name
ALTER TABLE trial ADD COLUMN scale TEXT NOT NULL DEFAULT ''         -- 'exact', 'scaled', 'custom'; '' for no benchmark
  CHECK (scale IN ('', 'exact', 'scaled', 'custom'));
ALTER TABLE trial ADD COLUMN host_busy REAL;          -- share of the host's CPU that other processes used during the trial, 0 to 1

-- One phase of a benchmark's workload. The device's counters are in the table phase (name 'workload'), those of its
-- members in device_phase.
CREATE TABLE measure (
  phase_id INTEGER PRIMARY KEY REFERENCES phase(id) ON DELETE CASCADE,
  label TEXT NOT NULL,                      -- name of the phase in the workload: "create"
  measured INTEGER NOT NULL CHECK (measured IN (0, 1)),   -- 0: preparation or verification, no result
  elapsed_ms REAL NOT NULL,                 -- until the last call returned; guest clock, converted to the device's time
  quiescent_ms REAL,                        -- until guest and device had nothing left to write; NULL: not awaited
  user_ms REAL NOT NULL, system_ms REAL NOT NULL,         -- CPU of the whole guest during elapsed_ms
  -- Busy time of the busiest device during elapsed_ms; phase.busy_ms continues until quiescence. If it is below half
  -- of elapsed_ms, the phase measured the CPU.
  device_busy_ms REAL NOT NULL,
  operation TEXT NOT NULL,                  -- counted unit: "files"
  operations INTEGER NOT NULL,
  app_bytes_read INTEGER NOT NULL, app_bytes_written INTEGER NOT NULL,
  -- the guest's /proc/diskstats of the same disk until quiescence: a cross-check, and the number of merges
  guest_reads INTEGER NOT NULL, guest_writes INTEGER NOT NULL, guest_flushes INTEGER NOT NULL,
  guest_bytes_read INTEGER NOT NULL, guest_bytes_written INTEGER NOT NULL,
  guest_merges INTEGER NOT NULL, guest_busy_ms REAL NOT NULL
) STRICT;

-- Other counted or reported values: counters of one kind of device ('hd0.nvram.dirty_hits'), latencies of single
-- operations ('operation.p99'), results of a tool ('fio.JOB.read.iops').
CREATE TABLE metric (
  phase_id INTEGER NOT NULL REFERENCES phase(id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  unit TEXT NOT NULL,                       -- '1/s', 'ms', 'bytes', '' for a plain number
  value REAL NOT NULL,
  PRIMARY KEY (phase_id, name)
) STRICT, WITHOUT ROWID;
