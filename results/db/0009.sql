-- Schema version 9: response times of flushes, and the first device's load over the time of a measured phase.

-- Modelled response times of a phase's flushes in logarithmic buckets. The table latency has reads and writes.
CREATE TABLE flush_latency (
  phase_id INTEGER NOT NULL REFERENCES phase(id) ON DELETE CASCADE,
  upper_us REAL NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (phase_id, upper_us)
) STRICT, WITHOUT ROWID;

-- Benchmarks: one row for each interval of model time, in order and without gaps from the beginning of the phase.
CREATE TABLE load (
  phase_id INTEGER NOT NULL REFERENCES phase(id) ON DELETE CASCADE,
  begin_ms REAL NOT NULL, end_ms REAL NOT NULL,       -- since the phase began
  bytes_read INTEGER NOT NULL, bytes_written INTEGER NOT NULL,
  flushes INTEGER NOT NULL,                           -- reads, writes and flushes completed in the interval
  inside REAL NOT NULL,                               -- mean number of requests in the device
  PRIMARY KEY (phase_id, begin_ms)
) STRICT, WITHOUT ROWID;
