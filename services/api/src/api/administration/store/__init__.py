"""Statements operators cause: one function is one statement."""
