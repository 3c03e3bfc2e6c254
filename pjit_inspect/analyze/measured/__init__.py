"""What a profiler saw: whose each run and each kernel is, and what every instruction took."""
