"""What XLA's passes made of a program, step by step."""
