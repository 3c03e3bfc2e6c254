"""The parts of a view before it is text or HTML: blocks, tables, charts, colors, numbers in words."""
