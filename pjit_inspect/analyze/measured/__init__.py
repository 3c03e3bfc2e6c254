"""Interprets a profiler's events: the program of each run, the instruction of each kernel, and times."""
