"""XLA's own account of memory: buffer assignments and live ranges. Not its job: what follows (`analyze.memory`)."""
