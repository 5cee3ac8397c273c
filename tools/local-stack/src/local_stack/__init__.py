"""Finds or starts backing services and runs the whole system on one machine."""
