"""Live programs and arrays turned into plain data."""
