"""What analyses yield: collectives and their causes, fusions, suggestions, explained errors, the graph."""
