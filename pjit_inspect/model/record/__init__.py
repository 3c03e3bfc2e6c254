"""One compilation, and what belongs to it alone: its key, its times, what XLA warned of."""
