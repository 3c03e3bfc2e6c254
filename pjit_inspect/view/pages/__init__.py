"""Pages of things that are no record: the log, the ledger, an error, several processes."""
