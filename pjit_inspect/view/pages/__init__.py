"""Pages of what is no record: the log, the ledger, an error, several processes."""
