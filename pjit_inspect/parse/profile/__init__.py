"""What JAX's profiler wrote: the programs, their runs, and the events of each."""
