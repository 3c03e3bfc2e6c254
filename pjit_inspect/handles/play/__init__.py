"""The playground: change a program's shardings, have XLA answer each change, and search for better ones."""
