"""What the table says of each error needs more than the message: facts from the scene, and changes, by subject."""
