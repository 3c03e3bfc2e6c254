"""A program whose shardings one changes and looks at again: the controls, and what became of each change."""
