"""One module per noun, and one for each kind of verb on messages."""
