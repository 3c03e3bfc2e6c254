"""XLA's own partitioner, asked in a process apart."""
