"""The public doors to a client's numbers."""
