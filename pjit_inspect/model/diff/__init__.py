"""Results of comparing two programs: rows of both joined in pairs, figures before and after, the answer in words."""
