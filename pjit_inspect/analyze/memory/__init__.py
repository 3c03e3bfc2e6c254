"""Finds the live values in a device's memory while a program runs. Not its job: drawing them (`view.memory`)."""
