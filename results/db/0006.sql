-- Schema version 6: the survey io-errors. A trial is a cell: one file system, one kind of request that fails, once or for
-- good, and how the session ends.
-- An answer is 'ok', an errno ('EIO'), 'hang', or '-' where it did not come to that. A content is 'new', 'old', 'torn',
-- 'zero', 'foreign', 'missing', 'unreadable', or '-'.

CREATE TABLE io_error (
  trial_id INTEGER PRIMARY KEY REFERENCES trial(id) ON DELETE CASCADE,
  failed_request TEXT NOT NULL,             -- none (a control), data-overwrite, data-append, metadata, metadata-copy, journal, flush
  lasting INTEGER NOT NULL CHECK (lasting IN (0, 1)),   -- 0: it fails once
  ending TEXT NOT NULL,                     -- cut, unmount
  requests_failed INTEGER NOT NULL,         -- by the device
  failed_block TEXT NOT NULL,               -- the first of them, in words
  first_fsync TEXT NOT NULL,                -- answer of fsync on the descriptor that wrote
  second_fsync TEXT NOT NULL,               -- of the same again
  reopened_fsync TEXT NOT NULL,             -- on a descriptor opened afterwards
  sync_fs TEXT NOT NULL,                    -- of syncfs, after sync
  fsync_after_sync TEXT NOT NULL,
  later_fsync TEXT NOT NULL,                -- after a later write to another part of the file (or of that write, if it failed)
  other_fsync TEXT NOT NULL,                -- likewise, another file
  new_file_fsync TEXT NOT NULL,             -- likewise, a file created afterwards
  state TEXT NOT NULL,                      -- of the mount afterwards: read-write, read-only, shut down, hung, died
  cached TEXT NOT NULL,                     -- content of the written range, while mounted
  reread TEXT NOT NULL,                     -- likewise, with the clean pages dropped
  recovered TEXT NOT NULL,                  -- likewise, after cut and recovery, or after unmount and mount
  rest TEXT NOT NULL,                       -- what had been synced before and nobody wrote again: 'new' is right
  later TEXT NOT NULL, other TEXT NOT NULL, new_file TEXT NOT NULL,   -- the later writes, at the end
  after_recovery TEXT NOT NULL,             -- what the check said
  surprise TEXT NOT NULL,                   -- in words; empty: everything that was answered is true
  documented TEXT NOT NULL,                 -- where that is described; empty: nowhere that we know
  kernel_log TEXT NOT NULL                  -- its beginning
) STRICT;

-- What was done, and what came of it.
CREATE TABLE io_error_step (
  trial_id INTEGER NOT NULL REFERENCES trial(id) ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,
  step TEXT NOT NULL,                       -- an operation of the workload, 'fault SPEC', 'read a (page cache)', a command
  result TEXT NOT NULL,
  PRIMARY KEY (trial_id, ordinal)
) STRICT, WITHOUT ROWID;
