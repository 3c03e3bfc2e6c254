"""Drawing: a report becomes a view tree (`tree`), the tree becomes text, HTML or a widget. No analysis, no JAX."""
