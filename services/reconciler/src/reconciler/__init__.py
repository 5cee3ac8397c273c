"""The second, independent memory of open messages, and the dead letters."""
