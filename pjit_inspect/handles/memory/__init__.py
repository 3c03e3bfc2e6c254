"""Memory: how a record shows it, whether a program fits, what the process holds, and why there was too little."""
