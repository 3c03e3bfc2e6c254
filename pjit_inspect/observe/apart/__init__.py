"""Work that can harm the process it is done in, done in processes apart: one call, one framing, one start."""
