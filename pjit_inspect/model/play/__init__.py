"""The playground of a program: its controls, and the result of each change."""
