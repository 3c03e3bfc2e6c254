"""What a view is made of before it is text or HTML: blocks, tables, charts, colors, numbers in words."""
