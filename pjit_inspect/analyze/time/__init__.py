"""Where the seconds of a call go: the work of every kernel, the network, and the schedule."""
