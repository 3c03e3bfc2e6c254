"""The differences of two programs, as text, as a page and as JSON."""
