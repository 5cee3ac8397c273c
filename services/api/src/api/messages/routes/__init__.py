"""The public doors to messages: sending, reading, canceling."""
