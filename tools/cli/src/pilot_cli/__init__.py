"""The operator's `pilot` command: everything through the HTTP API, nothing behind its back."""
