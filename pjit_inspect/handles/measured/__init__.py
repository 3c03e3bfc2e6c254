"""Records and what a profiler measured: of a block that runs here, and of a profile that somebody else's run left."""
