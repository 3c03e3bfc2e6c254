"""Records of several processes joined and compared."""
