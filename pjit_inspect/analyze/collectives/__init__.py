"""Finds every collective: its kind, axes, bytes, route, and overlap."""
