"""Facts that rows of the table need beside the message, read from the scene, and changes of the code, by subject."""
