"""XLA's passes over a program and the lives of its collectives: as text, as a still page, and as a page to click."""
