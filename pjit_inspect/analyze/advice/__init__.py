"""What may be advised of an array: every part that advises asks here. Not its job: what is found, or its words."""
