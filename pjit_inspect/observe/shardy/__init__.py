"""MLIR: StableHLO texts, Shardy's passes run on a copy, and copies with other shardings."""
