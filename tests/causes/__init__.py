"""Small sharded programs whose collectives and causes were worked out by hand, and how answers are scored."""
