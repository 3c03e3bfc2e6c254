"""Results of analyses: collectives and their causes, fusions, suggestions, explained errors, the graph."""
