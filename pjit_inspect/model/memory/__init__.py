"""Live values in a device's memory while a program runs. Not its job: finding them (`analyze.memory`)."""
