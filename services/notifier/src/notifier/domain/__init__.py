"""Frozen values and pure decisions of the notifier."""
