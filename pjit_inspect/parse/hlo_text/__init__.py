"""An HLO module from its text, written as the proto it came from and read as that."""
