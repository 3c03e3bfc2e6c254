"""The time of a record's call: on its own devices, on a target, with measured speeds, and on more and more chips."""
