-- Schema version 2: machines of several devices, and their incidents.

-- Every emulated device of a trial, including the members of arrays.
CREATE TABLE device (
  trial_id INTEGER NOT NULL REFERENCES trial(id) ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,                 -- number of the device in the recording; 0 is the guest's first device
  name TEXT NOT NULL,                       -- hd0, hd0.3
  profile TEXT NOT NULL,
  sectors INTEGER NOT NULL,                 -- of 512 bytes
  parent INTEGER,                           -- ordinal of the array or cache that contains it; NULL for a device of the machine
  PRIMARY KEY (trial_id, ordinal)
) STRICT, WITHOUT ROWID;

-- Incidents: a fault fired, a member failed, a rebuild ended, a battery ran low.
CREATE TABLE incident (
  trial_id INTEGER NOT NULL REFERENCES trial(id) ON DELETE CASCADE,
  at_ns INTEGER NOT NULL,                   -- model time
  device INTEGER NOT NULL,                  -- ordinal
  text TEXT NOT NULL
) STRICT;
CREATE INDEX incident_trial ON incident(trial_id);

-- Counters of each device in a phase, except the first device, whose counters are in the table phase.
CREATE TABLE device_phase (
  phase_id INTEGER NOT NULL REFERENCES phase(id) ON DELETE CASCADE,
  name TEXT NOT NULL,                       -- name of the device
  reads INTEGER NOT NULL, writes INTEGER NOT NULL, flushes INTEGER NOT NULL,
  bytes_read INTEGER NOT NULL, bytes_written INTEGER NOT NULL,
  media_bytes_written INTEGER NOT NULL,
  cache_hits INTEGER NOT NULL, seeks INTEGER NOT NULL,
  busy_ms REAL NOT NULL,
  PRIMARY KEY (phase_id, name)
) STRICT, WITHOUT ROWID;

-- The device of a sampled request.
ALTER TABLE io ADD COLUMN device INTEGER NOT NULL DEFAULT 0;
