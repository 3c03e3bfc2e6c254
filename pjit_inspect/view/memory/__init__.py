"""The buffers alive in memory, as text and tables. Not its job: finding them (`analyze.memory`)."""
