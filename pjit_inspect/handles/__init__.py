"""Objects users hold: records with tables and suggestions, the log, the ledger, merged processes, explained errors.

A record (`record`) is a thin handle. Its analyses (`analyses`) are values computed on first use, in one object that is
replaced as a whole when the data change. `displays` draws it and its tables, `propagate` and `trials` ask XLA,
`asked/` has programs that never ran, `measuring` adds times. Not its job: any single step; those are in the rooms
below.
"""
