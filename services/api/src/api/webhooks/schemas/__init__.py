"""Bodies of the webhook routes."""
