"""What comparing two programs yields: rows of both joined in pairs, figures before and after, the answer in words."""
