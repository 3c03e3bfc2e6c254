"""Training and inference steps as people write them, checked against what XLA itself says of them."""
