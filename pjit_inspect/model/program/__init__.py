"""A compiled program as it is: instructions, shapes, layouts, source frames."""
