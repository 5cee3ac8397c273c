"""What a client does with its numbers, one verb per module."""
