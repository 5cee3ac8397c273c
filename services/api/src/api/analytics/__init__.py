"""What became of a number's messages, in figures."""
