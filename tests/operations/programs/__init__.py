"""The programs, by the kind of operation."""
