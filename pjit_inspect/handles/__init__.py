"""What users hold: records, the log, the ledger, merged processes, explained errors."""
