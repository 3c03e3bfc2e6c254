"""Memory, for those who hold a record: how it is shown, and whether a program fits."""
