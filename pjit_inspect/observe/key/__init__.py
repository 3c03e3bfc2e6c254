"""What a compiled program is found again by, and the definitions and arguments it holds."""
