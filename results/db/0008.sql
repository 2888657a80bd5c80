-- Schema version 8: a number of an experiment may be a mean over seeds.

ALTER TABLE claim_number ADD COLUMN low REAL;   -- lower end of the mean's 95 % interval; NULL: one run
ALTER TABLE claim_number ADD COLUMN high REAL;  -- upper end
