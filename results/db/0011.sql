-- Schema version 11: known failures, and the cause of a failure.

-- Names of the known findings that explain all failures of the trial, separated by ", "; empty if there are none.
ALTER TABLE trial ADD COLUMN known TEXT NOT NULL DEFAULT '';
-- The cause of a failure on a stack of block devices, in words: the broken rule, or the layer to which it is attributed.
ALTER TABLE trial ADD COLUMN cause TEXT NOT NULL DEFAULT '';
