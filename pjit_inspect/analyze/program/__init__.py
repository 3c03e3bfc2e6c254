"""Facts of one compiled program that several analyses need."""
