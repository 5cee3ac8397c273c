"""Lanes: how a number is doing at this moment, as the dispatcher sees it."""
