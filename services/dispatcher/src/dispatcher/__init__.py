"""Lanes, jobs and attempts; the only service that sends."""
