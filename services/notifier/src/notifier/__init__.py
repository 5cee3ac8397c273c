"""Signed customer webhooks with durable retries."""
