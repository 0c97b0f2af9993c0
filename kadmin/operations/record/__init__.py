"""Records of operations: their values, and the codec of their bytes."""
