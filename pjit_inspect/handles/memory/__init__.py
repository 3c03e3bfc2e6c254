"""Memory: displays of a record's use, fits, the arrays of the process, and explanations of shortages."""
