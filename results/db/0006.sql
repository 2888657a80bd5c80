-- Schema version 6: the survey io-errors. A trial is a cell: one file system, one kind of request that fails, once or
-- permanently, and one way to end the session.
-- The result of a call is 'ok', an errno ('EIO'), 'hang', or '-' if it was not reached. A content is 'new', 'old', 'torn',
-- 'zero', 'foreign', 'missing', 'unreadable', or '-'.

CREATE TABLE io_error (
  trial_id INTEGER PRIMARY KEY REFERENCES trial(id) ON DELETE CASCADE,
  failed_request TEXT NOT NULL,             -- none (a control), data-overwrite, data-append, metadata, metadata-copy, journal, flush
  lasting INTEGER NOT NULL CHECK (lasting IN (0, 1)),   -- 0: a single failure
  ending TEXT NOT NULL,                     -- cut, unmount
  requests_failed INTEGER NOT NULL,         -- number of requests that the device failed
  failed_block TEXT NOT NULL,               -- description of the first failed request
  first_fsync TEXT NOT NULL,                -- fsync on the writing descriptor
  second_fsync TEXT NOT NULL,               -- fsync on it again
  reopened_fsync TEXT NOT NULL,             -- fsync on a descriptor opened afterwards
  sync_fs TEXT NOT NULL,                    -- syncfs, after sync
  fsync_after_sync TEXT NOT NULL,
  later_fsync TEXT NOT NULL,                -- fsync after a later write to another part of the file (or that write, if it failed)
  other_fsync TEXT NOT NULL,                -- the same for another file
  new_file_fsync TEXT NOT NULL,             -- the same for a file created afterwards
  state TEXT NOT NULL,                      -- state of the mount afterwards: read-write, read-only, shut down, hung, died
  cached TEXT NOT NULL,                     -- content of the written range, while mounted
  reread TEXT NOT NULL,                     -- the same, after dropping clean pages
  recovered TEXT NOT NULL,                  -- the same, after cut and recovery, or after unmount and mount
  rest TEXT NOT NULL,                       -- data synced before and not written since; 'new' is correct
  later TEXT NOT NULL, other TEXT NOT NULL, new_file TEXT NOT NULL,   -- content of the later writes, at the end
  after_recovery TEXT NOT NULL,             -- result of the check
  surprise TEXT NOT NULL,                   -- surprising results, in words; empty: all results of fsync were true
  documented TEXT NOT NULL,                 -- where the behaviour is documented; empty: no documentation known
  kernel_log TEXT NOT NULL                  -- beginning of the kernel log
) STRICT;

-- The steps of a cell and their results.
CREATE TABLE io_error_step (
  trial_id INTEGER NOT NULL REFERENCES trial(id) ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,
  step TEXT NOT NULL,                       -- an operation of the workload, 'fault SPEC', 'read a (page cache)', a command
  result TEXT NOT NULL,
  PRIMARY KEY (trial_id, ordinal)
) STRICT, WITHOUT ROWID;
