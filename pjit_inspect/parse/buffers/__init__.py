"""XLA's account of memory: buffer assignments. Not its job: conclusions (`analyze.memory`)."""
