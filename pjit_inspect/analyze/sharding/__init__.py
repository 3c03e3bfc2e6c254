"""The shardings that operations need of their operands, and the names of values."""
