"""Charts of memory, traffic and totals."""
