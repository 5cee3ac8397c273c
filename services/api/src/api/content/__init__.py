"""What a message says: the template grammar, and the limits of each kind of message."""
