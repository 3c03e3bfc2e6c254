"""The rows of the table, by subject."""
