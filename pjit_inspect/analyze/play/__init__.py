"""What can be changed of a program, what follows at once, what to write for it, and where to look for a better one."""
