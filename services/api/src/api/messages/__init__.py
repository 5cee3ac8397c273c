"""Messages: accepting them, following their progress, telling it."""
