"""The playground: a program whose shardings one changes, XLA asked after each change, and a search for better ones."""
