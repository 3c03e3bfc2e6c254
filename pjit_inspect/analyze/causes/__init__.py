"""Why each collective is there, in a sentence."""
