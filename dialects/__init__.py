"""What can be said: the dialects of Trivium and the one door to MLIR's own."""
