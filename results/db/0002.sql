-- Schema version 2: machines of several devices, and what was done to them on purpose.

-- Every emulated device of a trial, the members of arrays included.
CREATE TABLE device (
  trial_id INTEGER NOT NULL REFERENCES trial(id) ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,                 -- the device's number in the recording; 0 is the first the guest sees
  name TEXT NOT NULL,                       -- hd0, hd0.3
  profile TEXT NOT NULL,
  sectors INTEGER NOT NULL,                 -- of 512 bytes
  parent INTEGER,                           -- ordinal of the array or cache it is part of; NULL for one of the machine's own
  PRIMARY KEY (trial_id, ordinal)
) STRICT, WITHOUT ROWID;

-- What happened that was not a request: a fault fired, a member was failed, a rebuild ended, a battery ran low.
CREATE TABLE incident (
  trial_id INTEGER NOT NULL REFERENCES trial(id) ON DELETE CASCADE,
  at_ns INTEGER NOT NULL,                   -- model time
  device INTEGER NOT NULL,                  -- ordinal
  text TEXT NOT NULL
) STRICT;
CREATE INDEX incident_trial ON incident(trial_id);

-- What each device but the first did in a phase; the first one's numbers stand in the phase itself.
CREATE TABLE device_phase (
  phase_id INTEGER NOT NULL REFERENCES phase(id) ON DELETE CASCADE,
  name TEXT NOT NULL,                       -- of the device
  reads INTEGER NOT NULL, writes INTEGER NOT NULL, flushes INTEGER NOT NULL,
  bytes_read INTEGER NOT NULL, bytes_written INTEGER NOT NULL,
  media_bytes_written INTEGER NOT NULL,
  cache_hits INTEGER NOT NULL, seeks INTEGER NOT NULL,
  busy_ms REAL NOT NULL,
  PRIMARY KEY (phase_id, name)
) STRICT, WITHOUT ROWID;

-- Whose request it was.
ALTER TABLE io ADD COLUMN device INTEGER NOT NULL DEFAULT 0;
