"""An HLO module from its proto."""
