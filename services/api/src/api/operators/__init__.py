"""Operators: their keys and roles, and the log of everything they change."""
