"""Statements on messages and their steps, by what they are for."""
