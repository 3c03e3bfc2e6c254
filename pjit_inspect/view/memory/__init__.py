"""What is alive in memory, as text and tables. Not its job: finding it out (`analyze.memory`)."""
