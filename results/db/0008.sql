-- Schema version 8: a number of an experiment may be a mean over seeds.

ALTER TABLE claim_number ADD COLUMN low REAL;   -- the mean lies from here, at 95 %; NULL: one run
ALTER TABLE claim_number ADD COLUMN high REAL;  -- ... to here
