"""The program as a graph that can be folded, placed and drawn."""
