"""Every collective: its kind, axes, bytes, route, and what it overlaps with."""
