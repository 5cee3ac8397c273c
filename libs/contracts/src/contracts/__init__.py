"""Facts, commands, questions, status order and topology names shared by every service."""
