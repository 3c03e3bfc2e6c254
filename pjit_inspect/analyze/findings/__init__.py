"""What is wrong with a program: one line, its cause, its cost, and a remedy that was tried."""
