-- Schema version 9: response times of flushes; what the first device did over the time of a measured phase.

-- Of a phase in logarithmic buckets, by the model; the table latency has those of reads and writes.
CREATE TABLE flush_latency (
  phase_id INTEGER NOT NULL REFERENCES phase(id) ON DELETE CASCADE,
  upper_us REAL NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (phase_id, upper_us)
) STRICT, WITHOUT ROWID;

-- Of benchmarks, a stretch of model time each, in order and without gaps from the beginning of the phase on.
CREATE TABLE load (
  phase_id INTEGER NOT NULL REFERENCES phase(id) ON DELETE CASCADE,
  begin_ms REAL NOT NULL, end_ms REAL NOT NULL,       -- since the phase began
  bytes_read INTEGER NOT NULL, bytes_written INTEGER NOT NULL,
  flushes INTEGER NOT NULL,                           -- all three of requests that were completed in it
  inside REAL NOT NULL,                               -- requests in the device on the average
  PRIMARY KEY (phase_id, begin_ms)
) STRICT, WITHOUT ROWID;
