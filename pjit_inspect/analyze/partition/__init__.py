"""What XLA's partitioner did to a program: its modules before and after, put side by side."""
