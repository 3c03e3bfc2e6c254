"""Two programs compared: which row of one is which row of the other, by what evidence, and why it changed."""
