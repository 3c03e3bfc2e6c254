"""Changes that would remove a collective, and what they cost."""
