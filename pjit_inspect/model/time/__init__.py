"""The time of a program: the speeds of hardware, and where the seconds of a call go."""
