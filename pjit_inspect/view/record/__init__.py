"""A record's pages: the answer, collectives and causes, kernels, shardings, times."""
