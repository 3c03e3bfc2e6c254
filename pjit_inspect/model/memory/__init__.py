"""What is alive in a device's memory while a program runs. Not its job: finding it out (`analyze.memory`)."""
