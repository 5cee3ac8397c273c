"""What is done with operators: find out who calls, record what they change, manage them, read the log."""
