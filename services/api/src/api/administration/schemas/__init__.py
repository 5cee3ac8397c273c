"""Bodies of the operators' routes."""
