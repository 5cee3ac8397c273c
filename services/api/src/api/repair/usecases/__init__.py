"""What operators do about dead letters, and how the books are balanced."""
