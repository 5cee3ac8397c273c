"""Statements on operators and on the log of what they changed."""
