"""XLA's own account of memory: buffer assignments. Not its job: what follows (`analyze.memory`)."""
