"""An HLO module from its text, which is first converted to the proto."""
