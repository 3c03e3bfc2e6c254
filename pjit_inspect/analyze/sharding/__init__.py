"""What operations need of their operands' shardings, and what values are called."""
