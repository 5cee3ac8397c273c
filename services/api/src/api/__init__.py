"""The public HTTP API; owner of messages and their public status."""
