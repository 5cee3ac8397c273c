"""What status-ingest does, one step per module."""
