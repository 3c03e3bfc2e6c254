"""What users hold: records with their tables and suggestions, the log, the ledger, merged processes, explained errors.

A record (`record`) is a thin handle. What is known of it is in `analyses`: values that are computed when somebody
first looks, in one object that is replaced as one piece when the data change. `displays` draws it and its tables,
`propagate` and `suggest` ask XLA, `asked/` has what never ran, `measuring` adds times. Not its job: any single step;
those are in the rooms below.
"""
