"""Doors for what nobody asks for: what the dispatcher does by itself, over and over."""
