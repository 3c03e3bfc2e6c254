"""Changes that would remove a collective, and their costs."""
