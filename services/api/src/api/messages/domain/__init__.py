"""Decisions about messages: destination, content, delivery window, and what a fact means for the public status."""
